//! Holds the fixed phrases of the built-in model. Everything else it answers is quoted.

/// Ends every answer, so that nobody takes it for a model that reasons; also how it knows its own answers.
pub(super) const LABEL: &str = "*Built-in offline model: it quotes, it does not reason.*";

pub(super) const GREETING: &str = "Hello! I am Skein's built-in offline model. I need no key and no network: I look up what you told \
    me or attached and quote it, with its source.\n\n\
    Three things to try:\n\
    - Tell me something (“The launch moved to 3 March.”) and ask later (“When is the launch?”).\n\
    - Paste or attach a text and ask about it, or say “summarize”.\n\
    - Ask “How do I connect a model?” when you want answers that are written, not quoted.";

pub(super) const GREETING_AGAIN: &str = "Hello again.";

pub(super) const ABILITIES: &str = "I find and quote. That is all I do, and I do it without a key, without a network and \
    always in the same way:\n\
    - **Remember**: tell me things in plain sentences; ask about them at any time.\n\
    - **Answer from texts**: paste or attach notes, articles, logs; ask who, when, where, how many, or what they say about something.\n\
    - **Summarize**: “summarize”, “summarize in three sentences”, “summarize what we said about the budget”.\n\
    - **Recall**: “what do you know about me?”, “what did I say about Bo?”, “tell me more”.\n\n\
    I cannot write, translate, calculate or reason, and I know nothing you did not give me. For that, connect a model: ask me how.";

pub(super) const IDENTITY: &str = "I am Skein's built-in offline model: a program that searches what you told me or attached and \
    quotes the sentences that fit. I am no large language model. I invent nothing, and I know nothing you did not give me.\n\n\
    To talk to a large model here, connect one: ask me how.";

pub(super) const CONNECT: &str = "To connect a language model:\n\
    1. Make a **Service** from one of the templates: OpenAI, Anthropic, OpenRouter, or Ollama and llama.cpp on this machine. \
    Any other server that speaks the same API works too: give its address.\n\
    2. Put its key into a **Secret**. It is sealed at once and never shown again. Models on this machine need none.\n\
    3. Choose a model of it for the conversation.\n\n\
    Models on your own machine need one more confirmation by an administrator, because Skein does not call local addresses \
    unless it is told to. Everything said so far stays, and the new model can read it.";

pub(super) const PRIVACY: &str = "I run inside Skein and call nobody: what you write to me stays where Skein keeps its data. When \
    you connect a model of a provider, what you write to that model is sent to its provider.";

pub(super) const SKEIN: &str = "Skein keeps conversations as trees: every message can have alternatives, nothing is lost, and every \
    answer can be traced to what it came from. Models, tools and the keys they need are things you set up yourself and own.\n\n\
    I am its built-in offline model, here so that it works before you have connected any other.";

pub(super) const THANKS: &str = "You are welcome.";
pub(super) const FAREWELL: &str = "Goodbye. What you told me is kept.";
pub(super) const ASSENT: &str = "All right. Ask me about anything you told me or attached.";

pub(super) const NOTHING_GIVEN: &str = "I cannot answer that yet: you have told me nothing I could look it up in, and I know nothing \
    by myself. Tell me, or paste or attach a text that says it. For answers from general knowledge, connect a model: ask me how.";

pub(super) const ONLY_THIS: &str = "I know nothing beyond that. Tell me, or attach a text that says it; for answers from general \
    knowledge, connect a model: ask me how.";

pub(super) const CANNOT_MAKE: &str = "I cannot write, translate or work things out: I only quote what I was given.";
pub(super) const HOW_TO_MAKE: &str =
    "For that, connect a model: ask me how. It will have this conversation to work from.";

pub(super) const NO_MORE: &str = "That is all I find about it.";
pub(super) const NOTHING_TO_SUMMARIZE: &str =
    "There is nothing to summarize yet. Paste or attach a text, or tell me things first.";
pub(super) const NOTHING_TOLD: &str = "You have told me nothing about that yet.";
pub(super) const SHORT_STATEMENT: &str = "I have kept that. Ask “What can you do?” to see how I can help.";
pub(super) const NO_TASKS: &str = "I find nothing that is to be done in what I was given.";
