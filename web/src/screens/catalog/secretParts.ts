// The parts of a credential, by its type, as a form holds them and as the vault takes them.
const NAMES = {
  api_key: ["key"],
  password: ["username", "password"],
  oauth_token: ["accessToken", "refreshToken", "tokenUrl", "clientId", "clientSecret", "scope"],
  certificate: ["certificate", "privateKey", "ca"],
} as const;
const NEEDED: Record<string, string[]> = {
  api_key: ["key"],
  password: ["username", "password"],
  oauth_token: ["accessToken"],
  certificate: ["certificate", "privateKey"],
};
type Part = (typeof NAMES)[keyof typeof NAMES][number];
export type SecretParts = Record<Part, string>;

export const noParts = (): SecretParts => ({
  key: "",
  username: "",
  password: "",
  accessToken: "",
  refreshToken: "",
  tokenUrl: "",
  clientId: "",
  clientSecret: "",
  scope: "",
  certificate: "",
  privateKey: "",
  ca: "",
});

/** The value to send, once everything needed is there. */
export function valueOf(type: string, parts: SecretParts): string | Record<string, string> | undefined {
  const held = parts as Record<string, string>;
  if ((NEEDED[type] ?? []).some((name) => !held[name]?.trim())) return undefined;
  if (type === "api_key") return parts.key.trim();
  const names: readonly string[] = NAMES[type as keyof typeof NAMES] ?? [];
  return Object.fromEntries(
    names.filter((name) => held[name]?.trim()).map((name) => [name, held[name] ?? ""]),
  );
}
