// Addresses of services: whether they are on the server's own machine, which needs an administrator's word.
export interface HostPort {
  host: string;
  port: number;
}

/** The host and port of an address, if it is one. */
export function hostPortOf(address: string): HostPort | undefined {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return undefined;
  }
  if (!/^(https?|bolt|bolt\+s|neo4j|sse):$/.test(url.protocol) || !url.hostname) return undefined;
  const usual = url.protocol === "https:" ? 443 : url.protocol.startsWith("bolt") ? 7687 : 80;
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port ? Number(url.port) : usual };
}

export function isLoopback({ host }: HostPort): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\./.test(host);
}

/** Error of an address, shown beside the field. */
export function addressFault(address: string, protocol: string): string | undefined {
  if (address.trim() === "") return "is required";
  const at = hostPortOf(address.trim());
  if (!at) return `must begin with ${protocol}:// and name a host`;
  const given = new URL(address.trim()).protocol.slice(0, -1);
  if (protocol === "https" && given === "http")
    return "must begin with https://. For a server without encryption choose “On this machine or network”";
  return undefined;
}
