//! Tests that cached main paths stay correct, in whatever order later items are committed.

use std::collections::BTreeMap;
use std::sync::mpsc;

use skein_core::garden::cursor::Cursor;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId, Viewer};
use skein_store::memory::VisibleBranch;
use skein_store::tree::append::NodePosition;

use crate::fixtures::{World, both, wait_until};
use crate::tree::{after, conversation, marked, say};

const SYSTEM: Viewer = Viewer::System("test");

/// What somebody who asks again and again knows.
#[derive(Default)]
pub(crate) struct Known {
    shown: BTreeMap<ConversationId, Vec<VisibleBranch>>,
    settled: Option<Cursor>,
}

impl Known {
    /// Looks at what changed; that, and what is true.
    pub(crate) fn ask(&mut self, world: &World) -> [BTreeMap<ConversationId, Vec<VisibleBranch>>; 2] {
        let (anna, before) = (world.anna.clone(), self.settled);
        let (settled, led, all) = world.read(move |tx| {
            let led = before.map(|before| tx.led_since(&anna, before)).transpose()?.flatten();
            let led = led.map(|led| led.into_iter().map(|id| Ok((id, tx.main_path_of(&anna, id)?))).collect());
            let led: Option<Result<Vec<_>, skein_store::StoreError>> = led;
            Ok((tx.latest(&SYSTEM)?, led.transpose()?, tx.main_paths(&anna)?))
        });
        let mut truth: BTreeMap<ConversationId, Vec<VisibleBranch>> = BTreeMap::new();
        for seen in all {
            truth.entry(seen.conversation).or_default().push(seen);
        }
        match led {
            None => self.shown = truth.clone(),
            Some(led) => self.shown.extend(led),
        }
        self.shown.retain(|_, seen| !seen.is_empty());
        self.settled = Some(settled);
        [self.shown.clone(), truth]
    }
}

/// A conversation with two branches, and the first node of the one its path shows.
fn branched(world: &World) -> (ConversationId, NodeId) {
    let id = conversation(world, "dialogue");
    let root = say(world, id, after(None, Speaker::User), "Where to?").id;
    let left = say(world, id, after(Some(root), Speaker::Agent), "By train.").id;
    (id, say(world, id, NodePosition::EditOf(left), "By boat.").id)
}

both! {
    fn too_much_to_be_looked_at_is_not_looked_at(world: &World) {
        let (id, _) = branched(world);
        // On a shared cluster other tests' transactions hold back what was said.
        wait_until("what was said is settled", || world.read(|tx| Ok(tx.latest(&SYSTEM)? == tx.end(&SYSTEM)?)));
        let (anna, settled) = (world.anna.clone(), world.read(|tx| tx.latest(&SYSTEM)));
        let anna_too = anna.clone();
        assert_eq!(world.read(move |tx| tx.led_since(&anna, settled)), Some([].into()));
        let led = world.read(move |tx| tx.led_since(&anna_too, Cursor::START)).unwrap();
        assert_eq!(led, [id].into());
        for _ in 0..70 {
            branched(world);
        }
        let anna = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.led_since(&anna, settled)), None);
    }

    fn nobody_learns_of_the_paths_of_others(world: &World) {
        branched(world);
        let bert = world.bert.clone();
        assert_eq!(world.read(move |tx| tx.led_since(&bert, Cursor::START)), Some([].into()));
    }
}

#[test]
fn what_is_committed_late_is_seen_too() {
    let world = World::postgres();
    let ([(_, late), (_, early)], mut known) = ([branched(&world), branched(&world)], Known::default());
    known.ask(&world);
    let (begun, is_begun) = mpsc::channel();
    let (end, may_end) = mpsc::channel::<()>();
    let (store, anna) = (world.store.clone(), world.anna.clone());
    let may_end = std::sync::Mutex::new(may_end);
    let slow = std::thread::spawn(move || {
        store.write_blocking(move |tx| {
            let mut mark = marked(late);
            mark.pruned = Some(true);
            tx.mark_node(&anna, &mark)?;
            begun.send(()).ok();
            // A second run has nobody to wait for.
            may_end.lock().unwrap().recv().ok();
            Ok(())
        })
    });
    is_begun.recv().unwrap();
    let (anna, mut mark) = (world.anna.clone(), marked(early));
    mark.pruned = Some(true);
    world.write(move |tx| tx.mark_node(&anna, &mark));
    let [shown, truth] = known.ask(&world);
    assert_eq!(shown, truth, "while the slow one still writes");
    drop(end);
    slow.join().unwrap().unwrap();
    let [after, truth] = known.ask(&world);
    assert_eq!(after, truth, "once it has committed, before others in the order of the timeline");
    assert_ne!(shown, after);
}
