// A person who has used everything: what the screens show when they are not empty.
import type { Api, Node, Page, Schemas } from "./api";
import { Person } from "./person";

export interface Story {
  person: Person;
  survey: string;
  fork: string;
  folded: string;
  /** A question, its edit, and answers from two processes. */
  question: Node;
  edited: Node;
  answers: Node[];
  stale: Node;
  /** The answer to the edit, where the path leads. */
  onEdit: Node;
  tool: string;
  service: string;
  process: string;
  waiting: string;
  review: string;
  failed: string;
}

const NOTES = `Notes of the lake survey, spring:

- On 3 March we counted **eleven grey herons** at the north shore, two of them juveniles.
- On 10 March there were nine herons; two of the birds counted before were cranes.
- The water stood at 1.42 m, which is 18 cm above the mean of the last ten years.
- The new hide at the inlet was finished on 7 March. It holds six people.

| Day | Herons | Cranes | Water |
| --- | ---: | ---: | ---: |
| 3 March | 11 | 0 | 1.42 m |
| 10 March | 9 | 2 | 1.38 m |
`;

async function talk(person: Person) {
  const { id: survey } = await person.begin("Lake survey", {
    systemContext: "Answer in one or two sentences and name the day.",
  });
  const notes = await person.say(survey, NOTES);
  await person.answered(survey);
  const question = await person.say(survey, "How many herons were there on 3 March?");
  const answers = await person.answered(survey, ["Chat", "Chat with memory"], 2);
  const { answer: water } = await person.ask(survey, "How high did the water stand?");
  const edited = await person.edit(question, "How many herons were there on 10 March?");
  const [onEdit] = await person.answered(survey);
  if (!onEdit) throw new Error("no answer");
  const hide = await person.ask(survey, "When was the hide at the inlet finished?");
  await person.mark(water, { bookmarked: true, label: "Water level" });
  await person.mark(onEdit, { tag: ["checked", "herons"] });
  await person.mark(notes, { bookmarked: true });
  await person.api.post(`/nodes/${onEdit.id}/annotations`, { text: "Checked against the paper form." });
  return { survey, question, edited, answers, water, hide, onEdit };
}

async function branches(person: Person, survey: string, from: Node) {
  const fork = await person.api.post<{ id: string }>(`/conversations/${survey}/fork`, {
    nodeId: from.id,
    title: "What about the cranes?",
  });
  await person.ask(fork.id, "Where were the two cranes seen?");
  const folded = await person.api.post<{ id: string }>(`/conversations/${survey}/fork`, {
    nodeId: from.id,
    title: "Who pays for the hide",
  });
  const { answer } = await person.ask(folded.id, "Who pays for the hide?");
  await person.api.post(`/conversations/${folded.id}/fold`, {
    summary: "Nothing in the notes says who pays for the hide.",
    cites: [answer.id],
  });
  return { fork: fork.id, folded: folded.id };
}

async function catalog(person: Person) {
  const { data } = await person.api.get<Page<{ id: string; name: string }>>("/service-templates?limit=100");
  const template = data.find(({ name }) => name === "REST API without credential");
  const service = await person.api.post<{ id: string }>("/services", {
    name: "Gauge at the inlet",
    description: "Water level and temperature, every ten minutes.",
    serviceTemplateId: template?.id,
  });
  const tool = await person.api.post<{ id: string }>("/tools", {
    name: "Water level",
    description: "The level of a day, in metres.",
    serviceId: service.id,
    // Nothing listens there: the run that uses it fails.
    connectionParams: { endpoint: "http://127.0.0.1:9" },
    operation: { type: "rest_call", method: "GET", path: "/levels/{{day}}" },
    inputSchema: {
      type: "object",
      properties: { day: { type: "string", title: "Day", format: "date" } },
      required: ["day"],
    },
    outputSchema: { type: "object" },
  });
  await person.api.post("/secrets", {
    name: "Key of the gauge",
    type: "api_key",
    value: "not-a-real-key-0123456789",
  });
  return { service: service.id, tool: tool.id };
}

async function work(person: Person, tool: string) {
  const echo = await person.tool("Echo");
  const process = await person.define({
    name: "Report of a day",
    description: "Says what was seen, once a person agrees, and asks for the weather.",
    initialContext: ["word"],
    steps: [
      {
        id: "look",
        toolId: echo,
        inputs: { value: "{word}" },
        output: { variable: "seen" },
        execution: { interactionMode: "manual" },
      },
      { id: "weather", ask: { prompt: "What was the weather?" }, output: { variable: "weather" } },
    ],
    outputTemplate: "{{seen.value}}, {{weather}}",
  } as unknown as Schemas["ProcessBody"]);
  const level = await person.define({
    name: "Level of a day",
    initialContext: ["day"],
    steps: [{ id: "ask", toolId: tool, inputs: { day: "{day}" }, output: { variable: "level" } }],
    outputTemplate: "{{level}}",
  } as unknown as Schemas["ProcessBody"]);
  const failed = await person.run(level.id, { day: "2026-03-03" });
  await person.api.ended(failed);
  let waiting = "";
  await person.api.heard(
    (event) => event.startsWith("review."),
    async () => void (waiting = await person.run(process.id, { word: "eleven herons" })),
  );
  const { data: reviews } = await person.api.get<Page<{ id: string }>>("/reviews?status=open");
  return { process: process.id, failed, waiting, review: reviews[0]?.id ?? "" };
}

export async function tell(api: Api): Promise<Story> {
  const person = new Person(api);
  const { survey, question, edited, answers, water, onEdit } = await talk(person);
  const grown = await branches(person, survey, onEdit);
  const { service, tool } = await catalog(person);
  const done = await work(person, tool);
  const second = await person.begin("Plan of the summer");
  await person.ask(second.id, "What can you do without a network?");
  return {
    person,
    survey,
    question,
    edited,
    answers,
    stale: water,
    onEdit,
    service,
    tool,
    ...grown,
    ...done,
  };
}
