//! On what the figures were measured: without it they mean nothing elsewhere.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use skein_store::clock::{Clock as _, SystemClock};

const BLOCK_BYTES: usize = 4 << 10;
/// The file is written round and round, as a write-ahead log is.
const FILE_BLOCKS: u64 = 256;
const MEASURED_FOR: Duration = Duration::from_secs(1);

pub(crate) struct Machine {
    started: String,
    processor: String,
    cores: usize,
    memory: String,
    syncs_per_second: f64,
    load_at_start: String,
}

impl Machine {
    pub(crate) fn look(folder: &Path) -> Result<Self> {
        let cores = std::thread::available_parallelism().context("cannot count the cores")?;
        Ok(Self {
            started: SystemClock.now().to_string(),
            processor: field("/proc/cpuinfo", "model name")?,
            cores: cores.get(),
            memory: field("/proc/meminfo", "MemTotal")?,
            load_at_start: load()?,
            syncs_per_second: syncs_per_second(&folder.join("fdatasync"))?,
        })
    }

    pub(crate) fn markdown(&self, rounds: u32) -> Result<String> {
        Ok(format!(
            "{} · {} cores, {}, {} memory · fdatasync after 4 KiB: {:.0}/s · SQLite {} · {rounds} rounds · \
             load average {} at the start, {} at the end\n",
            self.started,
            self.cores,
            self.processor,
            self.memory,
            self.syncs_per_second,
            rusqlite::version(),
            self.load_at_start,
            load()?,
        ))
    }
}

/// The first value under a name, in one of the kernel's tables.
fn field(table: &str, name: &str) -> Result<String> {
    let text = fs::read_to_string(table).with_context(|| format!("cannot read {table}"))?;
    let value = text.lines().filter_map(|line| line.split_once(':')).find(|(found, _)| found.trim() == name);
    Ok(value.map_or_else(|| format!("unknown {name}"), |(_, value)| value.trim().to_owned()))
}

/// Over the last minute.
fn load() -> Result<String> {
    let text = fs::read_to_string("/proc/loadavg").context("cannot read the load")?;
    Ok(text.split(' ').next().unwrap_or_default().to_owned())
}

fn syncs_per_second(path: &Path) -> Result<f64> {
    let file = File::create(path).context("cannot write in the directory")?;
    let block = [7; BLOCK_BYTES];
    let write = |block_number: u64| file.write_all_at(&block, block_number * BLOCK_BYTES as u64);
    (0..FILE_BLOCKS).try_for_each(write)?;
    file.sync_all()?;
    let started = Instant::now();
    let mut syncs = 0_u32;
    while started.elapsed() < MEASURED_FOR {
        write(u64::from(syncs) % FILE_BLOCKS)?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(f64::from(syncs) / started.elapsed().as_secs_f64())
}
