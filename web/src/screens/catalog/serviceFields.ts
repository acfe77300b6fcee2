// Fields of a service in a form: its own or those of a template.
export interface Shape {
  type: string;
  protocol: string;
  requiresSecret: boolean;
  schema: string;
}
const ENDPOINT = {
  type: "object",
  properties: { endpoint: { type: "string", format: "uri", title: "Address" } },
  required: ["endpoint"],
  additionalProperties: false,
};
export const blankShape = (): Shape => ({
  type: "rest_api",
  protocol: "https",
  requiresSecret: false,
  schema: JSON.stringify(ENDPOINT, null, 2),
});
