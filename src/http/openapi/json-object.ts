/** A part of the document that is given as it is. */
export type JsonObject = Readonly<Record<string, unknown>>;
