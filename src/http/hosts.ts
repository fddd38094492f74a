/** Names and addresses as Host headers and settings spell them. */
import net from 'node:net';

const MAPPED = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/u;

/**
 * One spelling of a host without its port: lower case, IPv6 in brackets and shortened, an IPv4 address in IPv6 (as sockets
 * for both show it) as the former, no zone, no dot at the end.
 */
export function canonicalHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/u, '$1').replace(/%.*$/u, '');
  if (!net.isIPv6(bare)) return host.toLowerCase().replace(/(?<=[^.])\.$/u, '');
  const { hostname } = new URL(`http://[${bare}]`);
  const [, high, low] = MAPPED.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return hostname;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

/** Whether only this machine can mean itself by it: `localhost`, all of 127.0.0.0/8, `::1`. */
export function isLoopback(host: string): boolean {
  const name = canonicalHost(host);
  return name === 'localhost' || name === '[::1]' || (net.isIPv4(name) && name.startsWith('127.'));
}
