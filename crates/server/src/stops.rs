//! Named places in the running server where a drill can hold it: for the tests that kill the real binary.
//!
//! Off unless `ONCEBOOK_STOP_AT=NAME@ADDRESS` is set (read by config). The server then connects to the loopback address when
//! it comes to that place the first time, and waits until the other end closes: an armed signal, no sleep.

use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

/// The one place that is armed, if any.
#[derive(Debug, Default)]
pub struct Stops {
    armed: Option<(String, SocketAddr)>,
    used: AtomicBool,
}

impl Stops {
    /// No place is armed.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads `NAME@ADDRESS`; only loopback addresses are taken.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not NAME@ADDRESS with a loopback address");
        let (name, address) = text.split_once('@').ok_or_else(wrong)?;
        let address: SocketAddr = address.parse().map_err(|_| wrong())?;
        if !address.ip().is_loopback() {
            return Err(wrong());
        }
        Ok(Self { armed: Some((name.to_owned(), address)), used: AtomicBool::new(false) })
    }

    /// Holds the calling thread here if this place is armed and was not used before.
    pub fn at(&self, place: &str) {
        let Some((name, address)) = &self.armed else { return };
        if name != place || self.used.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Ok(mut peer) = TcpStream::connect(address) {
            let mut end = [0_u8; 1];
            // Whether it ends by a byte, a close or a reset: the drill lets us go on.
            drop(peer.read(&mut end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_armed() {
        assert!(Stops::parse("desk.written@127.0.0.1:4000").is_ok());
        assert!(Stops::parse("desk.written@192.0.2.1:4000").is_err());
        assert!(Stops::parse("desk.written").is_err());
    }

    #[test]
    fn an_armed_place_holds_once_and_others_do_not() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stops = Stops::parse(&format!("here@{}", listener.local_addr().unwrap())).unwrap();
        stops.at("elsewhere");
        let held = std::thread::spawn(move || {
            stops.at("here");
            stops.at("here");
        });
        drop(listener.accept().unwrap());
        held.join().unwrap();
    }
}
