//! Everything the server offers, on one screen per audience; each route describes itself for the API document.

use axum::Router;
use axum::routing::get;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::account::{self, grants, keys, users};
use crate::account::{sessions, sign_in};
use crate::catalog::{endpoints, secrets, services, templates, tools, vault};
use crate::flow::{approvals, default_process, executions, generations, processes, reviews, workers};
use crate::garden::{blobs, bundles, disk_usage, events, items, records, relations};
use crate::health;
use crate::http::auth::authentication::Gate;
use crate::http::auth::host_guard::AllowedHosts;
use crate::http::context::Context;
use crate::http::layer::InterceptLayer;
use crate::http::{docs, edge, error, openapi, page, request_metrics};
use crate::metrics::tool_metrics;
use crate::tree::{actors, compare, context, conversations, export, nodes, projects, proof, summaries, turns};
use crate::{memory, operations, settings};

/// For everybody who is signed in.
fn for_users() -> Api {
    Api::new()
        .routes(routes!(account::read_account))
        .routes(routes!(account::create_sign_in_link))
        .routes(routes!(account::end_session))
        .routes(routes!(default_process::read_default_process, default_process::change_default_process))
        .routes(routes!(sessions::list_sessions))
        .routes(routes!(sessions::end_session_elsewhere))
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::revoke_key))
        .routes(routes!(items::list_items, items::append_items))
        .routes(routes!(items::read_item))
        .routes(routes!(items::payload::read_payload))
        .routes(routes!(items::prove_item))
        .routes(routes!(items::undo_item))
        .routes(routes!(items::correct_time))
        .routes(routes!(items::redact_item))
        .routes(routes!(relations::list_relations, relations::create_relation))
        .routes(routes!(relations::follow_chain))
        .routes(routes!(relations::read_relation, relations::edit_relation, relations::remove_relation))
        .routes(routes!(records::list_records))
        .routes(routes!(records::read_record))
        .routes(routes!(records::list_history))
        .routes(routes!(records::diff_record))
        .routes(routes!(records::restore_record))
        .routes(routes!(blobs::upload_blob))
        .routes(routes!(blobs::download_blob))
        .routes(routes!(blobs::draw_thumbnail))
        .routes(routes!(bundles::create_export))
        .routes(routes!(bundles::download_export))
        .routes(routes!(bundles::import_bundle))
        .routes(routes!(operations::list_operations))
        .routes(routes!(operations::read_operation))
        .routes(routes!(operations::cancel_operation))
        .routes(routes!(events::watch_events))
        .routes(routes!(records::list_deltas))
        .merge(for_builders())
        .merge(for_talkers())
        .merge(for_rooms())
        .merge(for_flow())
}

/// For everybody who is signed in: what can be called, and with what.
fn for_builders() -> Api {
    Api::new()
        .routes(routes!(services::list_services, services::create_service))
        .routes(routes!(services::read_service, services::change_service, services::delete_service))
        .routes(routes!(services::share_service))
        .routes(routes!(services::check_service))
        .routes(routes!(services::discover_tools))
        .routes(routes!(secrets::list_secrets, secrets::create_secret))
        .routes(routes!(secrets::read_secret, secrets::change_secret, secrets::delete_secret))
        .routes(routes!(secrets::share_secret))
        .routes(routes!(tools::list_tools, tools::create_tool))
        .routes(routes!(tools::read_tool, tools::change_tool, tools::delete_tool))
        .routes(routes!(tool_metrics::list_tool_metrics))
        .routes(routes!(tools::share_tool))
        .routes(routes!(tools::test_tool))
        .routes(routes!(tools::bind_secret, tools::unbind_secret))
        .routes(routes!(templates::list_service_templates, templates::create_service_template))
        .routes(routes!(
            templates::read_service_template,
            templates::change_service_template,
            templates::archive_service_template
        ))
        .routes(routes!(templates::list_template_services))
        .routes(routes!(templates::list_tool_templates, templates::create_tool_template))
        .routes(routes!(
            templates::read_tool_template,
            templates::change_tool_template,
            templates::archive_tool_template
        ))
        .routes(routes!(templates::list_template_tools))
        .routes(routes!(processes::list_processes, processes::create_process))
        .routes(routes!(processes::validate_process))
        .routes(routes!(processes::read_process, processes::change_process, processes::delete_process))
        .routes(routes!(processes::check_process))
}

/// For everybody who is signed in: what they say, and what was said. What is refused for now, or for good, is not in the
/// API document.
fn for_talkers() -> Api {
    Api::new()
        .routes(routes!(conversations::list_conversations, conversations::create_conversation))
        .routes(routes!(conversations::read_conversation, conversations::change_conversation))
        .routes(routes!(conversations::read_tree))
        .routes(routes!(conversations::fork_conversation))
        .routes(routes!(conversations::list_forks))
        .routes(routes!(conversations::fold_conversation))
        .routes(routes!(conversations::reopen_conversation))
        .routes(routes!(turns::append_turn))
        .routes(routes!(turns::read_turn))
        .routes(routes!(turns::fork_at_turn))
        .routes(routes!(turns::add_alternative))
        .routes(routes!(turns::activate_alternative))
        .routes(routes!(turns::regenerate))
        .routes(routes!(turns::read_path))
        .routes(routes!(nodes::read_node_by_local_id))
        .routes(routes!(nodes::list_nodes))
        .routes(routes!(nodes::read_node))
        .routes(routes!(nodes::list_children))
        .routes(routes!(nodes::list_subtree))
        .routes(routes!(nodes::list_siblings))
        .routes(routes!(nodes::list_annotations, nodes::annotate_node))
        .routes(routes!(nodes::list_edits))
        .routes(routes!(nodes::list_edges))
        .routes(routes!(nodes::list_forks_at_node))
        .routes(routes!(nodes::mark_node))
        .routes(routes!(nodes::list_tags))
}

/// For everybody who is signed in: where conversations are gathered, who takes part in them,
/// and what can be proved, compared, shown and read of them.
fn for_rooms() -> Api {
    Api::new()
        .routes(routes!(projects::list_projects, projects::create_project))
        .routes(routes!(projects::read_project, projects::change_project))
        .routes(routes!(projects::list_stack))
        .routes(routes!(projects::list_frames))
        .routes(routes!(projects::turn_frame))
        .routes(routes!(projects::move_conversation))
        .routes(routes!(actors::list_actors, actors::create_actor))
        .routes(routes!(actors::read_actor, actors::change_actor))
        .routes(routes!(proof::verify_node))
        .routes(routes!(proof::verify_conversation))
        .routes(routes!(proof::trace_node))
        .routes(routes!(compare::compare))
        .routes(routes!(memory::search::search))
        .routes(routes!(memory::search::similar_nodes))
        .routes(routes!(memory::episodes::list_episodes, memory::episodes::import_episode))
        .routes(routes!(memory::episodes::read_episode))
        .routes(routes!(context::show_context))
        .routes(routes!(export::export_conversation))
        .routes(routes!(summaries::read_node_summary, summaries::renew_node_summary))
        .routes(routes!(summaries::read_conversation_summary, summaries::renew_conversation_summary))
}

/// For everybody who is signed in: runs of processes, and what they ask people.
fn for_flow() -> Api {
    Api::new()
        .routes(routes!(executions::execute_process))
        .routes(routes!(executions::list_executions))
        .routes(routes!(generations::list_generations))
        .routes(routes!(workers::read_queue))
        .routes(routes!(workers::list_dead_jobs))
        .routes(routes!(executions::read_execution))
        .routes(routes!(executions::cancel_execution))
        .routes(routes!(executions::pause_execution))
        .routes(routes!(executions::resume_execution))
        .routes(routes!(executions::branch_execution))
        .routes(routes!(executions::stream_execution))
        .routes(routes!(reviews::list_reviews))
        .routes(routes!(reviews::read_review))
        .routes(routes!(reviews::decide_review))
        .routes(routes!(reviews::delegate_review))
        .routes(routes!(approvals::list_approvals))
        .routes(routes!(approvals::revoke_approval))
}

/// For administrators; users read their own part.
fn for_admins() -> Api {
    Api::new()
        .routes(routes!(users::list_users, users::create_user))
        .routes(routes!(users::read_user, users::change_user))
        .routes(routes!(users::create_link_for_user))
        .routes(routes!(grants::list_grants, grants::give_grant))
        .routes(routes!(grants::end_grant))
        .routes(routes!(settings::list_settings))
        .routes(routes!(settings::read_setting, settings::change_setting))
        .routes(routes!(operations::request_verification))
        .routes(routes!(workers::list_workers))
        .routes(routes!(endpoints::list_endpoints, endpoints::allow_endpoint))
        .routes(routes!(endpoints::refuse_endpoint))
        .routes(routes!(vault::read_vault))
        .routes(routes!(disk_usage::read_storage))
        .routes(routes!(memory::index_status::read_index))
        .routes(routes!(memory::index_status::list_unbound))
        .routes(routes!(memory::index_status::rebuild_index))
        .routes(routes!(vault::rotate_vault))
}

/// For anybody: what is asked before, or without, signing in.
fn for_anybody() -> Router<Context> {
    Router::new()
        .route("/", get(page::show))
        .route("/sign-in", get(sign_in::open_cut_link))
        .route("/sign-in/", get(sign_in::open_cut_link))
        .route("/sign-in/{token}", get(sign_in::open_link).post(sign_in::follow_link))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/api/v1/openapi.json", get(openapi::serve))
        .route("/api/docs", get(docs::page))
        .route("/api/docs/{file}", get(docs::file))
}

/// For whoever watches over the server: open on loopback; on any other address, for every credential that may read.
fn for_watchers(context: &Context, hosts: &AllowedHosts) -> Router<Context> {
    let routes = Router::new().route("/metrics", get(request_metrics::show));
    if hosts.are_on_loopback() { routes } else { routes.route_layer(InterceptLayer::new(Gate(context.clone()))) }
}

/// The routes under `/api/v1`, and what they say about themselves.
pub(crate) fn api() -> (Router<Context>, OpenApi) {
    OpenApiRouter::with_openapi(openapi::preamble()).merge(for_users().merge(for_admins()).0).split_for_parts()
}

/// Where all of it stands.
pub(crate) const API: &str = "/api/v1";

/// Routes with [`API`] before their paths. They are named in full, not nested: a nested route would have its path taken
/// apart and made anew for every request.
struct Api(OpenApiRouter<Context>);

impl Api {
    fn new() -> Self {
        Self(OpenApiRouter::new())
    }

    fn routes(self, (schemas, mut paths, methods): UtoipaMethodRouter<Context>) -> Self {
        let named = std::mem::take(&mut paths.paths).into_iter();
        paths.paths = named.map(|(path, described)| (format!("{API}{path}"), described)).collect();
        Self(self.0.routes((schemas, paths, methods)))
    }

    fn merge(self, other: Self) -> Self {
        Self(self.0.merge(other.0))
    }
}

/// The server as a service; `hosts` are the names it answers to.
pub fn router(context: Context, hosts: AllowedHosts) -> Router {
    let (api, _) = api();
    let routes = api
        .route_layer(InterceptLayer::new(Gate(context.clone())))
        .merge(for_anybody())
        .merge(for_watchers(&context, &hosts))
        .fallback(page::show)
        .method_not_allowed_fallback(error::no_such_method)
        .with_state(context.clone());
    edge::around(routes, context, hosts)
}
