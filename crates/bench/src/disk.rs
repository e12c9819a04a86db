//! What the disk gives: appending a page and waiting until it is durable, again and again.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::Watch;
use crate::spread::{Spread, Times};

const PAGE: [u8; 4096] = [0x5A; 4096];

/// Appends 4 KiB and calls `fdatasync`, for as long as told. Makes and removes `dir/fdatasync.tmp`.
pub fn fdatasync(dir: &Path, time: Duration) -> std::io::Result<Spread> {
    let path = dir.join("fdatasync.tmp");
    let mut file = File::create(&path)?;
    let (mut times, all) = (Times::default(), Watch::start());
    while all.passed() < time {
        let one = Watch::start();
        file.write_all(&PAGE)?;
        file.sync_data()?;
        times.note(one.passed());
    }
    drop(file);
    std::fs::remove_file(&path)?;
    Ok(times.spread())
}
