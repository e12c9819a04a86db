//! Chance from a seed: one sequence for what is planned ahead, and fates that follow from a name.
//!
//! A fate is a function of the seed and of what it is about (a call, a key, a count), not of how many were drawn before it: a
//! plan that is cut down keeps the fates of what is left, and so the failure that is looked for.

/// A sequence (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        scramble(self.0)
    }

    /// A number below `n`, 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.draw() % n.max(1)
    }

    /// A span between two bounds, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        spread(self.draw(), low, high)
    }

    /// True so many times in a thousand.
    pub fn permille(&mut self, share: u64) -> bool {
        self.below(1_000) < share
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let n = self.below(u64::try_from(of.len()).unwrap_or(1));
        of[usize::try_from(n).unwrap_or(0)]
    }
}

/// `draw` spread over the numbers between two bounds, both included.
pub fn spread(draw: u64, low: i64, high: i64) -> i64 {
    let width = u64::try_from(high.saturating_sub(low)).unwrap_or(0).saturating_add(1);
    low.saturating_add(i64::try_from(draw % width).unwrap_or(0))
}

/// One number of several, in which every bit of each counts.
pub fn mix(parts: &[u64]) -> u64 {
    parts.iter().fold(0x51_7C_C1_B7_27_22_0A_95, |so_far, part| scramble(so_far.rotate_left(5) ^ part.wrapping_add(0x9E37_79B9_7F4A_7C15)))
}

/// A number that stands for a text (FNV-1a).
pub fn of_text(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |so_far, byte| (so_far ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence_and_stays_in_bounds() {
        let (mut a, mut b) = (Chance::new(7), Chance::new(7));
        for _ in 0..100 {
            let drawn = a.between(-3, 9);
            assert!((-3..=9).contains(&drawn));
            assert_eq!(drawn, b.between(-3, 9));
        }
        assert_ne!(mix(&[1, 2]), mix(&[2, 1]));
        assert_ne!(of_text("a"), of_text("b"));
    }
}
