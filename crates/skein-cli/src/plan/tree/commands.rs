//! Plans `conversation` and `project` as unresolved requests.

use anyhow::anyhow;
use axum::http::Method;
use serde_json::{Map, Value};

use super::name::{conversation, project};
use super::{ConversationTask, NodeLocation, NodeName, TextSource};
use crate::arguments::{
    AmountArguments, ConversationChange, ConversationCommand, ConversationContext, ConversationExport, ConversationId,
    ConversationMark, ConversationNew, ConversationShow, ExportFormat, PlaceArguments, ProjectCommand, WordsArguments,
};
use crate::failure::Failure;
use crate::plan::api_request::{portion, word};
use crate::plan::catalog::EntryName;
use crate::plan::tree::unresolved_request::{Reference, Subject, UnresolvedTreeRequest};
use crate::session::ListLimit;
use crate::views::{Sheet, tree as views};

const CONVERSATIONS: Subject = Subject::Path("/conversations");
const PROJECTS: Subject = Subject::Path("/projects");

impl ConversationTask {
    pub(crate) fn of_conversation(command: ConversationCommand) -> Result<Self, Failure> {
        use ConversationCommand as Typed;
        Ok(match command {
            Typed::List { archived, project, amount } => Self::list(archived, project.as_deref(), amount)?,
            Typed::Show(show) => Self::show(&show)?,
            Typed::New(new) => Self::begin(new)?,
            Typed::Change(change) => Self::change(change)?,
            Typed::Append { conversation: of, words, after, source } => {
                Self::append(&conversation(&of.conversation)?, words, after.as_deref(), &source)?
            }
            Typed::Edit { place, words, stay } => Self::edit(&place, words, stay)?,
            Typed::Switch(place) => Self::Switch(
                UnresolvedTreeRequest::put(Subject::Alternative(NodeLocation::of(&place)?)).tail("/activate"),
            ),
            Typed::Alternatives(place) => {
                let wish = UnresolvedTreeRequest::get(Subject::Turn(NodeLocation::of(&place)?));
                Self::Rows { wish, field: "alternatives", list: &views::NODES }
            }
            Typed::Node(place) => {
                shown(UnresolvedTreeRequest::get(Subject::Node(NodeLocation::of(&place)?)), &views::NODE)
            }
            Typed::Nodes { bookmarked, tag, author, amount } => {
                let wish =
                    UnresolvedTreeRequest::get(Subject::Path("/nodes")).with("bookmarked", bookmarked.then_some(true));
                let wish = wish.with("tag", tag).with("author", author);
                Self::List { wish, list: &views::NODES, portion: portion(amount) }
            }
            Typed::Annotate { place, words } => {
                let wish = UnresolvedTreeRequest::post(Subject::Node(NodeLocation::of(&place)?)).tail("/annotations");
                Self::Say(wish.words("text", TextSource::new(words)))
            }
            Typed::Mark(mark) => Self::mark(mark)?,
            Typed::Bookmark { place, label, remove } => {
                let wish = UnresolvedTreeRequest::put(Subject::Node(NodeLocation::of(&place)?)).tail("/marks");
                shown(wish.field("bookmarked", Some(!remove)).field("label", label), &views::NODE)
            }
            Typed::Fork { conversation: of, node, title } => Self::fork(&of, node.node.as_deref(), title)?,
            Typed::Forks { conversation: of, amount } => {
                let wish = UnresolvedTreeRequest::get(about(&of)?).tail("/forks");
                Self::List { wish, list: &views::CONVERSATIONS, portion: portion(amount) }
            }
            Typed::Fold { conversation: of, words, cite } => Self::fold(&of, words, &cite)?,
            Typed::Reopen(of) => shown(UnresolvedTreeRequest::post(about(&of)?).tail("/reopen"), &views::CONVERSATION),
            Typed::Archive(of) => Self::put_away(&of, "archived")?,
            Typed::Restore(of) => Self::put_away(&of, "active")?,
            Typed::Move { conversation: of, project: to } => {
                let wish = UnresolvedTreeRequest::put(about(&of)?).tail("/project");
                shown(wish.refer("projectId", Some(Reference::Project(project(&to)?))), &views::BRANCH)
            }
            Typed::Verify { conversation: of, node } => {
                let node = spot(&conversation(&of.conversation)?, node.as_deref())?;
                Self::Verify(UnresolvedTreeRequest::get(about(&of)?).tail("/verify").refer("nodeId", node))
            }
            Typed::Provenance { place, amount } => {
                let wish = UnresolvedTreeRequest::get(Subject::Node(NodeLocation::of(&place)?)).tail("/provenance");
                Self::List { wish, list: &views::CHAIN, portion: portion(amount) }
            }
            Typed::Summary { conversation: of, node, renew } => Self::summary(&of, node.as_deref(), renew)?,
            Typed::Context(context) => Self::context(&context)?,
            Typed::Compare { conversation: of, left, right, paths } => Self::compare(&of, &left, &right, paths)?,
            Typed::Export(export) => Self::export(export)?,
        })
    }

    fn list(archived: bool, of: Option<&str>, amount: AmountArguments) -> Result<Self, Failure> {
        let status = if archived { "archived" } else { "active" };
        let of = of.map(|of| project(of).map(Reference::Project)).transpose()?;
        let wish = UnresolvedTreeRequest::get(CONVERSATIONS).with("status", Some(status)).refer("projectId", of);
        Ok(Self::List { wish, list: &views::CONVERSATIONS, portion: portion(amount) })
    }

    fn fork(of: &ConversationId, node: Option<&str>, title: Option<String>) -> Result<Self, Failure> {
        let at = spot(&conversation(&of.conversation)?, node)?;
        let wish = UnresolvedTreeRequest::post(about(of)?).tail("/fork").field("title", title);
        Ok(shown(wish.refer("nodeId", at), &views::CONVERSATION))
    }

    fn fold(of: &ConversationId, words: WordsArguments, cites: &[String]) -> Result<Self, Failure> {
        let named = conversation(&of.conversation)?;
        let cites = cites.iter().map(|cite| NodeLocation::new(&named, cite)).collect::<Result<Vec<_>, _>>()?;
        let cites = (!cites.is_empty()).then_some(Reference::Cites(cites));
        let wish = UnresolvedTreeRequest::post(about(of)?).tail("/fold").words("summary", TextSource::new(words));
        Ok(shown(wish.refer("cites", cites), &views::CONVERSATION))
    }

    fn compare(of: &ConversationId, left: &str, right: &str, are_paths: bool) -> Result<Self, Failure> {
        let of = conversation(&of.conversation)?;
        let side = |text: &str| Ok::<_, Failure>(Some(Reference::Node(NodeLocation::new(&of, text)?)));
        let kind = if are_paths { "paths" } else { "nodes" };
        let wish = UnresolvedTreeRequest::post(Subject::Path("/compare")).field("as", Some(kind));
        Ok(Self::Compare(wish.refer("left", side(left)?).refer("right", side(right)?)))
    }

    fn show(show: &ConversationShow) -> Result<Self, Failure> {
        let most = if show.all { ListLimit::All } else { ListLimit::AtMost(show.limit.into()) };
        let named = conversation(&show.conversation.conversation)?;
        if !show.path {
            return Ok(Self::Draw { conversation: named, most });
        }
        let node = show.node.as_deref().map(NodeName::new).transpose()?;
        Ok(Self::Read { conversation: named, node, most })
    }

    fn begin(new: ConversationNew) -> Result<Self, Failure> {
        let ConversationNew { title, description, system, buffer_system, mode, budget, project: of } = new;
        let of = of.map(|of| project(&of).map(Reference::Project)).transpose()?;
        let wish = UnresolvedTreeRequest::post(CONVERSATIONS)
            .field("title", title)
            .field("description", description)
            .field("systemContext", system)
            .field("bufferModeSystemContext", buffer_system)
            .field("mode", Some(word(&mode)))
            .field("contextBudget", budget)
            .refer("projectId", of);
        Ok(Self::Show { wish, sheet: &views::CONVERSATION })
    }

    fn change(change: ConversationChange) -> Result<Self, Failure> {
        let ConversationChange { conversation: of, title, description, system, buffer_system, budget } = change;
        let text = |name: &str, value: Option<String>| value.map(|value| (name.to_owned(), Value::from(value)));
        let fields = [text("title", title), text("description", description), text("systemContext", system)];
        let budget = budget.map(|budget| ("contextBudget".to_owned(), Value::from(budget)));
        let switch = buffer_system.map(|is_sent| ("bufferModeSystemContext".to_owned(), Value::from(is_sent)));
        let fields = fields.into_iter().flatten().chain(switch).chain(budget).collect();
        Ok(Self::Change { conversation: conversation(&of.conversation)?, fields })
    }

    fn put_away(of: &ConversationId, status: &str) -> Result<Self, Failure> {
        let fields = Map::from_iter([("status".to_owned(), status.into())]);
        Ok(Self::Change { conversation: conversation(&of.conversation)?, fields })
    }

    fn append(of: &EntryName, words: WordsArguments, after: Option<&str>, sources: &[String]) -> Result<Self, Failure> {
        let parent = after.map_or_else(|| Ok(NodeLocation::here(of)), |after| NodeLocation::new(of, after))?;
        let sources = sources.iter().map(|source| NodeLocation::new(of, source)).collect::<Result<Vec<_>, _>>()?;
        let wish = UnresolvedTreeRequest::post(Subject::Conversation(of.clone()))
            .tail("/turns")
            .words("text", TextSource::new(words));
        let wish = wish.refer("parentAlternativeId", Some(Reference::Parent(parent)));
        Ok(Self::Say(wish.refer("sources", (!sources.is_empty()).then_some(Reference::Sources(sources)))))
    }

    fn edit(place: &PlaceArguments, words: WordsArguments, stay: bool) -> Result<Self, Failure> {
        let edited = NodeLocation::of(place)?;
        let wish = UnresolvedTreeRequest::post(Subject::Turn(edited.clone()))
            .tail("/alternatives")
            .words("text", TextSource::new(words));
        Ok(Self::Say(wish.field("makeActive", Some(!stay)).refer("editedFrom", Some(Reference::Node(edited)))))
    }

    fn mark(mark: ConversationMark) -> Result<Self, Failure> {
        let either = |yes: bool, no: bool| (yes || no).then_some(yes);
        let some = |tags: Vec<String>| (!tags.is_empty()).then_some(tags);
        let wish = UnresolvedTreeRequest::put(Subject::Node(NodeLocation::of(&mark.place)?))
            .tail("/marks")
            .field("bookmarked", either(mark.bookmark, mark.unbookmark))
            .field("label", mark.label)
            .field("pruned", either(mark.prune, mark.unprune))
            .field("excluded", either(mark.exclude, mark.include))
            .field("tag", some(mark.tag))
            .field("untag", some(mark.untag));
        Ok(Self::Show { wish, sheet: &views::NODE })
    }

    fn summary(of: &ConversationId, node: Option<&str>, renew: bool) -> Result<Self, Failure> {
        let of = conversation(&of.conversation)?;
        let about = match node {
            Some(node) => Subject::Node(NodeLocation::new(&of, node)?),
            None => Subject::Conversation(of),
        };
        let wish = if renew { UnresolvedTreeRequest::post(about) } else { UnresolvedTreeRequest::get(about) };
        Ok(shown(wish.tail("/summary"), &views::SUMMARY))
    }

    fn context(context: &ConversationContext) -> Result<Self, Failure> {
        let of = conversation(&context.conversation.conversation)?;
        let at = context
            .node
            .node
            .as_deref()
            .map_or_else(|| Ok(NodeLocation::here(&of)), |node| NodeLocation::new(&of, node))?;
        let wish = UnresolvedTreeRequest::get(Subject::Node(at)).tail("/context");
        let wish = wish.with("budget", context.budget).with("strategy", context.strategy.map(|one| word(&one)));
        Ok(Self::Context(wish.with("processId", context.process.as_deref())))
    }

    fn export(export: ConversationExport) -> Result<Self, Failure> {
        let of = conversation(&export.conversation.conversation)?;
        if export.format == ExportFormat::Bundle {
            return Self::bundle(of, export);
        }
        let node = spot(&of, export.node.as_deref())?;
        let wish = UnresolvedTreeRequest::get(Subject::Conversation(of))
            .tail("/export")
            .with("format", Some(word(&export.format)));
        Ok(Self::Export { wish: wish.refer("nodeId", node), file: export.file })
    }

    fn bundle(conversation: EntryName, export: ConversationExport) -> Result<Self, Failure> {
        if export.node.is_some() {
            let error = anyhow!("a bundle holds all of a conversation");
            return Err(Failure::usage(error, "leave --node out, or choose --format markdown or html"));
        }
        Ok(Self::Bundle { conversation, file: export.file })
    }

    pub(crate) fn of_project(command: ProjectCommand) -> Result<Self, Failure> {
        let about = |text: &str| Ok::<_, Failure>(Subject::Project(project(text)?));
        let sheet = &views::PROJECT;
        Ok(match command {
            ProjectCommand::List(amount) => Self::List {
                wish: UnresolvedTreeRequest::get(PROJECTS),
                list: &views::PROJECTS,
                portion: portion(amount),
            },
            ProjectCommand::New { name, description } => {
                let wish = UnresolvedTreeRequest::new(Method::POST, PROJECTS).field("name", Some(name));
                Self::Show { wish: wish.field("description", description), sheet }
            }
            ProjectCommand::Show(of) => Self::Show { wish: UnresolvedTreeRequest::get(about(&of.project)?), sheet },
            ProjectCommand::Stack { project: of, amount } => {
                let wish = UnresolvedTreeRequest::get(about(&of.project)?).tail("/stack");
                Self::List { wish, list: &views::STACK, portion: portion(amount) }
            }
            ProjectCommand::Frames(of) => {
                let wish = UnresolvedTreeRequest::get(about(&of.project)?).tail("/frames");
                Self::Rows { wish, field: "data", list: &views::FRAMES }
            }
        })
    }
}

fn shown(wish: UnresolvedTreeRequest, sheet: &'static Sheet) -> ConversationTask {
    ConversationTask::Show { wish, sheet }
}

fn about(of: &ConversationId) -> Result<Subject, Failure> {
    Ok(Subject::Conversation(conversation(&of.conversation)?))
}

fn spot(of: &EntryName, node: Option<&str>) -> Result<Option<Reference>, Failure> {
    node.map(|node| NodeLocation::new(of, node).map(Reference::Node)).transpose()
}
