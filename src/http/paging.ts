/** `Link: <…>; rel="next"` (RFC 8288) for a page that is not the last; null at the end. */
export function nextLink(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
  next: string | null,
): string | null {
  if (next === null) return null;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && name !== 'after') parameters.set(name, String(value));
  }
  parameters.set('after', next);
  return `<${path}?${parameters.toString()}>; rel="next"`;
}
