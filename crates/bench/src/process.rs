//! What a process takes: its memory, as the kernel counts it.

/// Resident memory of a process, in KiB: now, and the most it ever was. `None` where the kernel does not say.
pub fn resident_kib(pid: u32) -> Option<(u64, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    Some((field("VmRSS:")?, field("VmHWM:")?))
}

/// Processor time that a process has used, in ms. `None` where the kernel does not say.
pub fn cpu_ms(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything; after it, user and system time are fields 12 and 13.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |n: usize| fields.get(n).and_then(|field| field.parse::<u64>().ok());
    Some((ticks(11)? + ticks(12)?) * 10)
}
