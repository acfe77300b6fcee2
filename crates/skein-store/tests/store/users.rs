//! Links, sessions, users and grants.

use skein_core::account::{GrantDraft, Role};
use skein_core::garden::item::ItemType;
use skein_core::{Digest, ItemId, UserId, Viewer};
use skein_store::timeline::items::ItemQuery;
use skein_store::{StoreError, Tx};

use crate::fixtures::{World, both};

const SYSTEM: Viewer = Viewer::System("test");
const LINK: Digest = Digest([1; 32]);
const SESSION: Digest = Digest([2; 32]);
const HOUR: i64 = 3_600_000;

fn admit(world: &World) -> UserId {
    let user = world.anna.owner();
    world.write(move |tx| {
        let until = tx.now().plus(HOUR);
        tx.admit_link(&SYSTEM, user, LINK, until)
    });
    user
}

fn redeem(world: &World) -> Option<UserId> {
    world.write(|tx| tx.redeem_link(&SYSTEM, LINK, SESSION, 2 * HOUR)).map(|session| session.user)
}

/// An administrator with a grant on Anna's things.
fn granted(world: &World) -> (UserId, ItemId) {
    let owner = world.anna.owner();
    world.write(move |tx| {
        let admin = tx.create_user(&SYSTEM, "root", Role::Admin)?;
        let until = tx.now().plus(HOUR);
        let draft = GrantDraft { owner, name: "ticket".into(), reason: "asked to".into(), until };
        Ok((admin, tx.give_grant(&Viewer::User(admin), &draft)?.id))
    })
}

/// What the administrator sees by, while the grant holds.
fn looking(world: &World, admin: UserId, grant: ItemId) -> Option<Viewer> {
    let held = world.read(move |tx| tx.grant_held(&Viewer::User(admin), grant))?;
    Some(Viewer::Admin { user: admin, grant: held })
}

fn read_note(world: &World, viewer: &Viewer, item: ItemId) -> Result<(), StoreError> {
    let viewer = viewer.clone();
    world.try_read(move |tx| tx.item(&viewer, item)).map(drop)
}

both! {
    fn a_link_signs_in_once(world: &World) {
        let user = admit(world);
        assert_eq!(redeem(world), Some(user));
        assert_eq!(world.try_write(|tx| tx.redeem_link(&SYSTEM, LINK, Digest([3; 32]), HOUR)).unwrap(), None);
        assert_eq!(world.read(|tx| tx.session(&SYSTEM, SESSION)).map(|session| session.user), Some(user));
        assert_eq!(world.read(|tx| tx.session(&SYSTEM, LINK)), None);
    }

    fn links_and_sessions_run_out_and_are_swept(world: &World) {
        admit(world);
        world.clock.advance(HOUR);
        assert_eq!(redeem(world), None);
        admit(world);
        redeem(world).unwrap();
        world.clock.advance(2 * HOUR);
        assert_eq!(world.read(|tx| tx.session(&SYSTEM, SESSION)), None);
        assert_eq!(world.write(|tx| tx.sweep_sessions(&SYSTEM)), 1);
    }

    fn a_session_is_ended_by_its_user_only(world: &World) {
        admit(world);
        redeem(world).unwrap();
        let (anna, bert) = (world.anna.clone(), world.bert.clone());
        world.write(move |tx| tx.end_session(&bert, SESSION));
        assert!(world.read(|tx| tx.session(&SYSTEM, SESSION)).is_some());
        world.write(move |tx| tx.end_session(&anna, SESSION));
        assert!(world.read(|tx| tx.session(&SYSTEM, SESSION)).is_none());
    }

    fn nobody_but_skein_looks_at_links_or_users(world: &World) {
        let anna = world.anna.clone();
        let forbidden = world.try_write(move |tx| {
            let outcomes = [
                tx.admit_link(&anna, anna.owner(), LINK, tx.now()).err(),
                tx.redeem_link(&anna, LINK, SESSION, HOUR).err(),
                tx.session(&anna, SESSION).err(),
                tx.users(&anna, None, 10).err(),
                tx.user(&anna, anna.owner()).err(),
            ];
            Ok(outcomes.iter().all(|outcome| matches!(outcome, Some(StoreError::Forbidden))))
        });
        assert!(forbidden.unwrap());
    }

    fn users_are_listed_page_by_page_in_order(world: &World) {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = world.read(move |tx| tx.users(&SYSTEM, after, 1));
            seen.extend(page.rows.iter().map(|record| record.content.name().unwrap_or_default().to_owned()));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        seen.sort();
        assert_eq!(seen, ["anna", "bert"]);
        assert_eq!(world.read(|tx| tx.admins(&SYSTEM)), 0);
    }

    fn the_first_user_stays_first_after_others_join_and_after_a_restore(world: &World) {
        let first = world.write(|tx| tx.settle_first_user(&SYSTEM)).unwrap();
        assert_eq!(world.read(|tx| tx.first_user(&SYSTEM)), Some(first));
        // Somebody whose record is older than everybody's here.
        world.tamper("UPDATE records SET created_at = 1 WHERE name = 'bert'").unwrap();
        assert_eq!(world.write(|tx| tx.settle_first_user(&SYSTEM)), Some(first));
        let (copy, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let target = copy.path().join("copy");
        skein_store::backup::backup(&world.store, &world.blobs, &target, &mut |_| {}).unwrap();
        let location = skein_store::Location::Directory(place.path().to_owned());
        skein_store::backup::restore(&target, &location, &world.blobs, &mut |_| {}).unwrap();
        let restored = skein_store::Store::open(skein_store::StoreOptions::at(location)).unwrap();
        assert_eq!(restored.read_blocking(|tx| tx.first_user(&SYSTEM)).unwrap(), Some(first));
    }

    fn br_sec_002_a_grant_opens_one_users_things_until_it_ends_holds(world: &World) {
        let (annas, berts) = (world.note("hers").item.header.id, world.note_by(&world.bert, "his").item.header.id);
        let (admin, grant) = granted(world);
        let viewer = looking(world, admin, grant).unwrap();
        assert!(read_note(world, &viewer, annas).is_ok() && read_note(world, &viewer, berts).is_err());
        let seen = viewer.clone();
        let query = ItemQuery { item_type: Some(ItemType::NOTE), limit: 10, ..ItemQuery::default() };
        assert_eq!(world.read(move |tx| tx.items(&seen, &query)).rows.len(), 1);
        let anna = world.anna.clone();
        world.write(move |tx| tx.end_grant(&anna, grant));
        assert_eq!(looking(world, admin, grant), None);
    }

    fn br_sec_002_without_a_grant_or_after_it_ran_out_an_admin_refuses_to_see(world: &World) {
        let annas = world.note("hers").item.header.id;
        let (admin, grant) = granted(world);
        assert!(read_note(world, &Viewer::User(admin), annas).is_err());
        let viewer = looking(world, admin, grant).unwrap();
        world.clock.advance(HOUR);
        assert!(read_note(world, &viewer, annas).is_err());
        assert_eq!(looking(world, admin, grant), None);
        let bert = world.bert.clone();
        assert!(matches!(world.try_read(move |tx| tx.grant(&bert, grant)), Err(StoreError::NotFound(_))));
        assert_eq!(looking(world, world.bert.owner(), grant), None);
    }

    fn a_grant_is_on_the_timeline_of_its_subject(world: &World) {
        let (_, grant) = granted(world);
        let anna = world.anna.clone();
        let told = world.read(move |tx| tx.item(&anna, grant)).item;
        assert_eq!(told.header.item_type, ItemType::SYSTEM_EVENT);
        assert_eq!(told.document().unwrap()["reason"], "asked to");
        let anna = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.grants(&anna, None, 10)).rows.len(), 1);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_grant_is_for_looking_and_redacting_never_for_writing(world: &World) {
        let annas = world.note("hers");
        let (admin, grant) = granted(world);
        let viewer = looking(world, admin, grant).unwrap();
        let item = annas.item.header.id;
        let refused = |act: fn(&mut Tx<'_>, &Viewer, ItemId) -> Result<(), StoreError>| {
            let viewer = viewer.clone();
            world.try_write(move |tx| act(tx, &viewer, item)).unwrap_err()
        };
        refused(|tx, viewer, item| tx.undo_item(viewer, item).map(drop));
        refused(|tx, viewer, item| tx.override_canonical_time(viewer, item, None));
        let acting = viewer.clone();
        world.write(move |tx| tx.redact_item(&acting, item, "asked for").map(drop));
        let anna = world.anna.clone();
        let gone = world.read(move |tx| tx.item(&anna, item));
        assert!(gone.item.payload.is_none());
        world.seal();
        assert_eq!(world.verify(true).breaks, []);
    }
}
