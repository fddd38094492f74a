/** What is said of each operation, before it is written out as OpenAPI 3.1. */
import type { ErrorCode } from '../../contract/errors.ts';
import type { SchemaName } from './components.ts';
import type { HeaderName } from './headers.ts';
import type { JsonObject } from './json-object.ts';
import type { ParameterName } from './parameters.ts';

export interface Content {
  readonly mediaType: string;
  /** A component, or a schema of its own; bytes have none. */
  readonly schema?: SchemaName | JsonObject;
  readonly examples?: Readonly<Record<string, JsonObject>>;
}

export interface Success {
  readonly status: number;
  readonly description: string;
  readonly content?: Content;
  /** Beside those that every answer carries. */
  readonly headers?: readonly HeaderName[];
  /** Which some of these answers carry. */
  readonly optionalHeaders?: readonly HeaderName[];
  readonly links?: JsonObject;
}

export interface Operation {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly ParameterName[];
  readonly requestBody?: JsonObject;
  readonly successes: readonly Success[];
  /** Codes beside those that every operation can answer with. */
  readonly refusals: readonly ErrorCode[];
  /** Needs no token, and answers while the service stops. */
  readonly probe?: boolean;
  /** Needs no token. */
  readonly open?: boolean;
}

export type Tag = 'snapshots' | 'store' | 'operating' | 'documentation';

export interface Resource {
  readonly path: string;
  /** A GET stands for HEAD too: the same without the content. */
  readonly get?: Operation;
  readonly post?: Operation;
}
