//! Recall through the product itself: bringing very many episodes of one owner, asking among them, and starting with them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;

use crate::Setting;
use crate::appends::two_threads;
use crate::comparison::{Comparison, median, percentile};
use crate::process::skein;
use crate::recall_bare::FullText;
use crate::recall_fixture::{Memory, RESULTS, Rates, RecallSummary};
use crate::recall_served::ApiClient;
use crate::recall_texts::{Kind, Question, questions};
use crate::report::{Line, Target, Unit, grouped};

/// Reported on the way to as many as were asked for.
const SMALLER: [usize; 2] = [10_000, 100_000];
const QUESTIONS: usize = 300;

const INGESTED_PER_SECOND_MIN: f64 = 2_000.0;
const MEDIAN_MS_MAX: f64 = 10.0;
const SLOWEST_MS_MAX: f64 = 40.0;
const MEGABYTES_MAX: f64 = 2_000.0;
const START_MS_MAX: f64 = 2_000.0;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let directory = setting.folder.make("recall")?;
    let beside = setting.folder.make("recall-beside")?;
    let sizes = sizes(setting.items);
    let asked = questions(QUESTIONS, sizes[0]);
    // A server takes the directory for itself: with this runtime everything ends that still holds a part of it.
    let (mut lines, known) = {
        let runtime = two_threads()?;
        runtime.block_on(grow_all(setting, directory.clone(), &beside.join("fts5.db"), &sizes, &asked))?
    };
    let served = two_threads()?.block_on(serve(setting, directory.clone(), known, &asked));
    // What took so long to measure is not lost with it.
    lines.extend(served.unwrap_or_else(|error| vec![Line::unavailable("recall: behind a server", &error.to_string())]));
    // Gigabytes that nobody needs any more.
    std::fs::remove_dir_all(directory)?;
    std::fs::remove_dir_all(beside)?;
    Ok(lines)
}

async fn grow_all(
    setting: &Setting,
    directory: PathBuf,
    beside: &Path,
    sizes: &[usize],
    asked: &[Question],
) -> Result<(Vec<Line>, RecallSummary)> {
    let mut full_text = FullText::create(beside)?;
    let mut memory = Memory::begin(directory).await?;
    let (mut lines, mut reached) = (Vec::new(), 0);
    for size in sizes {
        lines.extend(grow(&mut memory, &mut full_text, reached..*size).await?);
        lines.extend(ask(setting, &memory, &full_text, asked, *size).await?);
        reached = *size;
    }
    Ok((lines, memory.close().await?))
}

fn sizes(items: usize) -> Vec<usize> {
    SMALLER.into_iter().filter(|size| *size < items).chain([items]).collect()
}

async fn grow(memory: &mut Memory, full_text: &mut FullText, numbers: Range<usize>) -> Result<Vec<Line>> {
    let started = Instant::now();
    let size = grouped(&numbers.end.to_string());
    let Rates { together, writing, indexing } = memory.grow(numbers.clone()).await?;
    let beside = full_text.add(numbers)?;
    println!("(grew a memory of {size} episodes, and its like in FTS5, in {:.0} s)", started.elapsed().as_secs_f64());
    let indexing = Comparison { ours: vec![indexing], theirs: vec![beside] };
    Ok(vec![
        Line::limited(
            &format!("recall: episodes brought until all are found, up to {size}"),
            Unit::PerSecond,
            &[together],
            Target::AtLeast(INGESTED_PER_SECOND_MIN),
        ),
        Line::limited("recall: the same, written while nobody indexes", Unit::PerSecond, &[writing], Target::None),
        Line::compared(
            "recall: the same, indexed while nobody writes; beside it: FTS5",
            Unit::PerSecond,
            &indexing,
            Target::None,
        ),
    ])
}

/// Every question in every round, on both sides.
async fn ask(
    setting: &Setting,
    memory: &Memory,
    full_text: &FullText,
    asked: &[Question],
    size: usize,
) -> Result<Vec<Line>> {
    let none = || Comparison { ours: Vec::new(), theirs: Vec::new() };
    let (mut middle, mut slowest, mut all) = (none(), none(), Vec::new());
    for round in 0..setting.rounds {
        for is_ours in if round % 2 == 0 { [true, false] } else { [false, true] } {
            let mut times = Vec::with_capacity(asked.len());
            for question in asked {
                let text = &question.text;
                times.push(if is_ours { memory.ask(text).await? } else { full_text.ask(text, RESULTS)? });
            }
            for (sides, figure) in [(&mut middle, median(&times)), (&mut slowest, percentile(&times, 99))] {
                if is_ours { &mut sides.ours } else { &mut sides.theirs }.push(figure);
            }
            all.extend(is_ours.then_some(times));
        }
    }
    tell_kinds(asked, &all);
    let size = grouped(&size.to_string());
    Ok(vec![
        Line::beside(
            &format!("recall: a question among {size}, median; beside it: FTS5"),
            Unit::Milliseconds,
            &middle,
            Target::AtMost(MEDIAN_MS_MAX),
        ),
        Line::beside(
            "recall: the same, 99 of 100 are faster",
            Unit::Milliseconds,
            &slowest,
            Target::AtMost(SLOWEST_MS_MAX),
        ),
    ])
}

fn tell_kinds(asked: &[Question], rounds: &[Vec<f64>]) {
    let of_kind = |kind: Kind| {
        let times = rounds.iter().flat_map(|times| asked.iter().zip(times));
        let times: Vec<f64> = times.filter(|(question, _)| question.kind == kind).map(|(_, time)| *time).collect();
        let [middle, slowest] = [50, 99].map(|percent| Unit::Milliseconds.spell(percentile(&times, percent)));
        format!("{} {middle}, {slowest}", kind.name())
    };
    let kinds = Kind::ALL.map(of_kind).join("; ");
    println!("(by what is asked, median and 99 of 100: {kinds})");
}

async fn serve(setting: &Setting, directory: PathBuf, known: RecallSummary, asked: &[Question]) -> Result<Vec<Line>> {
    let size = grouped(&known.episodes.to_string());
    let start = format!("recall: start of a server with {size} indexed, until the first right answer");
    let Some(program) = skein()? else {
        return Ok(vec![Line::unavailable(&start, "no skein beside this program")]);
    };
    let door = ApiClient { program, directory, known };
    let (mut starts, mut middle, mut slowest, mut memories) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..setting.rounds {
        let mut found = door.start().await?;
        starts.push(found.milliseconds);
        let times = door.ask(&mut found, asked).await?;
        middle.push(median(&times));
        slowest.push(percentile(&times, 99));
        if round + 1 < setting.rounds {
            found.stop()?;
        } else {
            memories.push(door.most_megabytes(found).await?);
        }
    }
    let limited = |what: &str, unit, measured: &[f64], most| Line::limited(what, unit, measured, Target::AtMost(most));
    Ok(vec![
        limited(&start, Unit::Milliseconds, &starts, START_MS_MAX),
        limited(
            &format!("recall: a question over HTTP among {size}, median"),
            Unit::Milliseconds,
            &middle,
            MEDIAN_MS_MAX,
        ),
        limited("recall: the same, 99 of 100 are faster", Unit::Milliseconds, &slowest, SLOWEST_MS_MAX),
        limited("recall: most resident memory of that server", Unit::Megabytes, &memories, MEGABYTES_MAX),
    ])
}
