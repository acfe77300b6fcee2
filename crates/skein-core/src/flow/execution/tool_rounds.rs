//! The part of the machine that lets a model call tools while it answers a step: rounds, approvals, limits (decision Z14).

use serde_json::{Map, Value};

use crate::flow::cost::CostTotals;
use crate::flow::execution::input::{CallSite, Effect, RequestedToolCall};
use crate::flow::execution::machine::Machine;
use crate::flow::execution::review::{ApprovalScope, Decision, ReviewRequest, WiderApproval};
use crate::flow::execution::state::Phase;
use crate::flow::execution::tool_loop::{LimitUsage, ToolLoop, asked_back, told};
use crate::flow::step::{Approval, OfferedTool, StepTarget};
use crate::id::RecordId;

impl Machine<'_> {
    pub(super) fn converse(&mut self, step: usize, output: &Value, wishes: &[RequestedToolCall], owed: &CostTotals) {
        let limits = self.definition(step).offer_limits.unwrap_or_default();
        let state = &self.state.steps[step];
        let mut dialogue = state.dialogue.clone().unwrap_or_default();
        let spent = LimitUsage::since(state.began_at, self.now, dialogue.waited_ms, state.tokens, owed);
        let is_approved = |tool: RecordId, inputs: &Map<String, Value>| self.state.is_approved(tool, inputs);
        let opened = dialogue.open_round(&output["text"], wishes, &limits, &spent, is_approved);
        self.at(step).dialogue = Some(dialogue);
        if let Err(fault) = opened {
            return self.failed(step, fault);
        }
        self.at(step).phase = Phase::Conversing;
        self.open_calls(step);
        self.answer_model(step);
    }

    fn open_calls(&mut self, step: usize) {
        let open = self.state.steps[step].dialogue.as_ref().map(|dialogue| dialogue.open.clone()).unwrap_or_default();
        for (index, call) in open.into_iter().enumerate() {
            let place = CallSite { step, call: Some(index) };
            match (call.phase, call.tool) {
                (Phase::Calling, Some(tool)) => self.wish_called(place, tool, call.inputs),
                (Phase::Asking, Some(tool)) => {
                    let tool = self.definition(step).naming(tool);
                    self.ask(place, ReviewRequest::Wish { tool, name: call.name, inputs: call.inputs });
                }
                _ => {}
            }
        }
    }

    fn wish_called(&mut self, place: CallSite, tool: RecordId, inputs: Map<String, Value>) {
        self.effects.push(Effect::Call { place, tool, inputs, attempt: 1, delay_ms: 0 });
    }

    pub(super) fn requested_call_decided(&mut self, step: usize, call: usize, decision: &Decision) {
        let Some(dialogue) = self.at(step).dialogue.as_mut() else { return };
        let open = &mut dialogue.open[call];
        match (decision, open.tool) {
            (Decision::Approve { inputs, scope }, Some(tool)) => {
                if let Some(inputs) = inputs {
                    open.inputs.clone_from(inputs);
                }
                open.phase = Phase::Calling;
                let inputs = open.inputs.clone();
                let scope = scope.unwrap_or_else(|| self.usual_scope(step, tool));
                self.remember_approval(step, scope, tool, &inputs);
                self.wish_called(CallSite { step, call: Some(call) }, tool, inputs);
            }
            (Decision::Deny { reason }, _) => {
                let reason = reason.as_deref().unwrap_or("no reason was given");
                open.by_person = true;
                self.requested_call_ended(
                    step,
                    call,
                    Phase::Failed,
                    told(&format!("the person denied this call: {reason}")),
                );
            }
            (Decision::Ask { question }, _) => {
                open.by_person = true;
                self.requested_call_ended(step, call, Phase::Failed, asked_back(question));
            }
            (Decision::Answer { value }, _) => {
                open.by_person = true;
                self.requested_call_ended(step, call, Phase::Done, value.clone());
            }
            (Decision::Approve { .. }, None) => {}
        }
    }

    /// The call was not made, so it is not counted.
    pub(super) fn held(&mut self, step: usize) -> bool {
        let StepTarget::Tool(tool) = self.definition(step).target else { return false };
        let tool = self.definition(step).naming(tool);
        let state = self.at(step);
        state.attempt = state.attempt.saturating_sub(1);
        state.phase = Phase::Asking;
        let inputs = state.inputs.clone();
        self.ask(CallSite::of(step), ReviewRequest::Call { tool, inputs });
        true
    }

    /// How far an approval reaches where the person does not say: a tool that is to be approved once is for the whole run.
    fn usual_scope(&self, step: usize, tool: RecordId) -> ApprovalScope {
        let is_once = |offer: &OfferedTool| offer.tool_id == tool && offer.approval == Some(Approval::Once);
        if self.definition(step).offers.iter().any(is_once) { ApprovalScope::Run } else { ApprovalScope::Once }
    }

    /// What was approved is what is called, with the inputs as the person left them.
    pub(super) fn remember_approval(
        &mut self,
        step: usize,
        scope: ApprovalScope,
        tool: RecordId,
        inputs: &Map<String, Value>,
    ) {
        if let Some(approved) = WiderApproval::within(scope, tool, inputs) {
            self.at(step).dialogue.get_or_insert_default().approved.push(approved);
        }
    }

    /// The time people take is not counted where a model's time is limited.
    pub(super) fn wait_for_a_person(&mut self, step: usize) {
        let now = self.now;
        if !self.definition(step).offers.is_empty() {
            self.at(step).dialogue.get_or_insert_default().ask(now);
        }
    }

    pub(super) fn heard_from_a_person(&mut self, step: usize) {
        let now = self.now;
        if let Some(dialogue) = self.at(step).dialogue.as_mut() {
            dialogue.answer(now);
        }
    }

    pub(super) fn requested_call_ended(&mut self, step: usize, call: usize, phase: Phase, result: Value) {
        self.note_requested_call(step, call, phase, result);
        self.answer_model(step);
    }

    pub(super) fn note_requested_call(&mut self, step: usize, call: usize, phase: Phase, result: Value) {
        if let Some(open) = self.at(step).dialogue.as_mut().and_then(|dialogue| dialogue.open.get_mut(call)) {
            (open.phase, open.result) = (phase, result);
        }
    }

    /// When every call of a round has ended, the model is asked again.
    fn answer_model(&mut self, step: usize) {
        let Some(dialogue) = self.at(step).dialogue.as_mut().filter(|dialogue| dialogue.is_answered()) else { return };
        ToolLoop::close_round(dialogue);
        self.call(step, 0);
    }
}
