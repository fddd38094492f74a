/** What the service answers, by its OpenAPI document. */
import type { components, paths } from '../../openapi/openapi.d.ts';

export type Path = keyof paths;
type Schemas = components['schemas'];
export type SnapshotSummary = Schemas['SnapshotSummary'];
export type DamagedSnapshot = Schemas['DamagedSnapshot'];
export type Manifest = Schemas['Manifest'];
export type ArrayEntry = Schemas['ArrayEntry'];
export type Comparison = Schemas['Comparison'];
export type Coverage = Schemas['Coverage'];
export type IncompleteAttempt = Schemas['IncompleteAttempt'];
export type Declarations = Schemas['Declarations'];
export type Problem = Schemas['Problem'];

/** A resource that answers GET with JSON, and what it answers. */
export type Json<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer A } } } };
}
  ? A
  : never;
export type Query<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } }
  ? Q
  : never;
