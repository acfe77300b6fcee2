//! Tests references between records: counted at deletion, listed by visibility, removed with the referring record.

use serde_json::json;
use skein_core::garden::record::{Act, Record};
use skein_core::{RecordId, Viewer};
use skein_store::StoreError;
use skein_store::catalog::entries::OwnershipFilter;
use skein_store::catalog::references::{REFERRING_NAMED_MAX, ReferenceKind, Referrers};

use crate::catalog::{change, delete, make, service, shared, tool, try_change};
use crate::fixtures::{World, both, content};

fn referrers(world: &World, target: RecordId, kind: ReferenceKind) -> Referrers {
    let owner = world.anna.owner();
    world.read(move |tx| tx.referrers(target, kind, owner))
}

fn instances(
    world: &World,
    viewer: &Viewer,
    target: RecordId,
    kind: ReferenceKind,
    whose: OwnershipFilter,
) -> Vec<RecordId> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let viewer = viewer.clone();
        let page = world.read(move |tx| tx.instances(&viewer, target, kind, whose, after, 2));
        found.extend(page.rows.iter().map(|record| record.id));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

fn secret(world: &World, viewer: &Viewer) -> Record {
    make(world, viewer, content("Secret", json!({ "name": "k", "type": "api_key", "valueVersion": 1 })))
}

fn binding(tool: RecordId, secret: RecordId) -> skein_core::garden::record::RecordContent {
    content("SecretBinding", json!({ "toolId": tool.to_string(), "secretId": secret.to_string() }))
}

both! {
    fn live_referrers_are_counted_by_owner(world: &World) {
        let target = make(world, &world.anna, shared(service("weather"))).id;
        assert_eq!(referrers(world, target, ReferenceKind::Service), Referrers::default());
        let mine = make(world, &world.anna, tool("mine", target));
        make(world, &world.bert, tool("his", target));
        make(world, &world.bert, shared(tool("his shared", target)));
        let counted = Referrers { total: 3, by_others: 2, shared_by_others: 1, owners_among_others: 1 };
        assert_eq!(referrers(world, target, ReferenceKind::Service), counted);
        assert_eq!(referrers(world, target, ReferenceKind::Secret), Referrers::default());
        delete(world, &world.anna, mine.id).unwrap();
        assert_eq!(referrers(world, target, ReferenceKind::Service), Referrers { total: 2, ..counted });
        assert_eq!(world.verify(true).breaks, []);
    }

    fn every_field_that_names_a_record_is_a_reference(world: &World) {
        let template = make(world, &world.anna, content("ServiceTemplate", json!({ "name": "t" })));
        let mut from_template = service("weather");
        from_template.data.insert("serviceTemplateId".into(), json!(template.id.to_string()));
        let target = make(world, &world.anna, from_template);
        let (key, tool_template) = (secret(world, &world.anna), make(world, &world.anna, content("ToolTemplate", json!({ "name": "t" }))));
        let mut content = shared(tool("rain", target.id));
        content.data.insert("secretId".into(), json!(key.id.to_string()));
        content.data.insert("toolTemplateId".into(), json!(tool_template.id.to_string()));
        let user = make(world, &world.anna, content);
        let (his, bert) = (secret(world, &world.bert), &world.bert);
        let bound = make(world, bert, binding(user.id, his.id));
        let one = |target, kind| referrers(world, target, kind).total;
        assert_eq!(one(template.id, ReferenceKind::Template), 1);
        assert_eq!(one(target.id, ReferenceKind::Service), 1);
        assert_eq!(one(key.id, ReferenceKind::Secret), 1);
        assert_eq!(one(tool_template.id, ReferenceKind::Template), 1);
        assert_eq!((one(user.id, ReferenceKind::Tool), one(his.id, ReferenceKind::Secret)), (1, 1));
        let changed = change(world, &world.anna, &user, json!({ "secretId": null }), Act::Plain);
        assert_eq!((one(key.id, ReferenceKind::Secret), changed.version), (0, 2));
        delete(world, bert, bound.id).unwrap();
        assert_eq!((one(user.id, ReferenceKind::Tool), one(his.id, ReferenceKind::Secret)), (0, 0));
        assert_eq!(world.verify(true).breaks, []);
    }

    fn instances_are_listed_for_who_may_see_them(world: &World) {
        let target = make(world, &world.anna, shared(service("weather"))).id;
        let mine: Vec<RecordId> = (0..5).map(|index| make(world, &world.anna, tool(&index.to_string(), target)).id).collect();
        let hidden = make(world, &world.bert, tool("hidden", target)).id;
        let open = make(world, &world.bert, shared(tool("open", target))).id;
        let kind = ReferenceKind::Service;
        let sorted = |mut ids: Vec<RecordId>| { ids.sort(); ids };
        assert_eq!(instances(world, &world.anna, target, kind, OwnershipFilter::Own), sorted(mine.clone()));
        assert_eq!(instances(world, &world.anna, target, kind, OwnershipFilter::SharedByOthers), [open]);
        assert_eq!(instances(world, &world.anna, target, kind, OwnershipFilter::Both), sorted([mine, vec![open]].concat()));
        assert_eq!(instances(world, &world.bert, target, kind, OwnershipFilter::Both), sorted(vec![hidden, open]));
        let viewer = world.anna.clone();
        let named = world.read(move |tx| tx.referring(&viewer, target, kind));
        assert!(named.len() == REFERRING_NAMED_MAX && named.iter().all(|record| record.id != hidden));
    }

    fn what_is_referred_to_is_there_for_who_refers(world: &World) {
        let (open, hidden) = (make(world, &world.anna, shared(service("open"))), make(world, &world.anna, service("hidden")));
        let refused = |content: &skein_core::garden::record::RecordContent| {
            let (viewer, content) = (world.bert.clone(), content.clone());
            let made = world.try_write(move |tx| tx.create_entry(&viewer, content.clone(), None));
            assert!(matches!(made, Err(StoreError::NotFound(_))), "{made:?}");
        };
        refused(&tool("his", hidden.id));
        refused(&tool("his", RecordId::from_bytes([3; 16])));
        let his = make(world, &world.bert, tool("his", open.id));
        refused(&binding(his.id, secret(world, &world.anna).id));
        let moved = try_change(world, &world.bert, &his, json!({ "serviceId": hidden.id.to_string() }), Act::Plain);
        assert!(matches!(moved, Err(StoreError::NotFound(_))));
        // What was bound before stays so when it is hidden: that is for whoever unshares to be told.
        change(world, &world.anna, &open, json!({ "shared": false }), Act::Plain);
        change(world, &world.bert, &his, json!({ "enabled": false }), Act::Plain);
        delete(world, &world.anna, hidden.id).unwrap();
        let (viewer, gone) = (world.anna.clone(), tool("late", hidden.id));
        let late = world.try_write(move |tx| tx.create_entry(&viewer, gone.clone(), None));
        assert!(matches!(late, Err(StoreError::NotFound(_))));
    }

    fn a_user_binds_one_secret_to_a_tool(world: &World) {
        let target = make(world, &world.anna, shared(service("weather"))).id;
        let user = make(world, &world.anna, shared(tool("rain", target))).id;
        let (hers, his) = (secret(world, &world.anna), secret(world, &world.bert));
        let first = make(world, &world.bert, binding(user, his.id));
        make(world, &world.anna, binding(user, hers.id));
        let (viewer, again) = (world.bert.clone(), binding(user, his.id));
        let second = world.try_write(move |tx| tx.create_entry(&viewer, again.clone(), None));
        assert!(matches!(second, Err(StoreError::Exists(_))), "{second:?}");
        let bound = |viewer: &Viewer| { let viewer = viewer.clone(); world.read(move |tx| tx.secret_binding(&viewer, user)) };
        assert_eq!(bound(&world.bert), Some(first.clone()));
        assert_eq!(bound(&Viewer::System("test")), None);
        delete(world, &world.bert, first.id).unwrap();
        assert_eq!(bound(&world.bert), None);
        make(world, &world.bert, binding(user, his.id));
        assert_eq!(world.verify(true).breaks, []);
    }
}
