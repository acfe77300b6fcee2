// The sections of Settings: what is one's own, what belongs to this browser, and what administrators set for all.
import type { IconName } from "../../ui/icons";

export interface SectionWords {
  id: string;
  label: string;
  icon: IconName;
  group: "You" | "This browser" | "This installation";
  admin?: boolean;
}
export const sections: SectionWords[] = [
  { id: "account", label: "Account", icon: "person", group: "You" },
  { id: "answers", label: "Default answers", icon: "process", group: "You" },
  { id: "access", label: "Access keys", icon: "key", group: "You" },
  { id: "keeping", label: "Backup and export", icon: "copy", group: "You" },
  { id: "appearance", label: "Appearance", icon: "eye", group: "This browser" },
  { id: "keys", label: "Key bindings", icon: "expand", group: "This browser" },
  { id: "presets", label: "Presets", icon: "process", group: "This browser" },
  { id: "users", label: "Users", icon: "person", group: "This installation", admin: true },
  { id: "addresses", label: "Allowed addresses", icon: "shield", group: "This installation", admin: true },
  { id: "vault", label: "Vault", icon: "key", group: "This installation", admin: true },
  { id: "installation", label: "Limits and defaults", icon: "settings", group: "This installation" },
];
export const ROLES = [
  { value: "user", label: "User" },
  { value: "admin", label: "Administrator" },
];
export const groups = ["You", "This browser", "This installation"] as const;
