/**
 * What the service is meant to reach, as ratios between two figures of one run. `aim` is where it should go.
 * @typedef {{ work: string, ours: string, against: string, least: number | null, aim: number }} Target
 * @type {readonly Target[]}
 */
export const TARGETS = [
  { work: 'publish-large', ours: 'pipewhy', against: 'docker-registry', least: 2, aim: 3 },
  { work: 'publish-large', ours: 'pipewhy', against: 'nginx dav', least: null, aim: 0.95 },
  { work: 'publish-small-1', ours: 'pipewhy', against: 'docker-registry', least: 1.5, aim: 2.5 },
  { work: 'publish-small-16', ours: 'pipewhy', against: 'docker-registry', least: 2, aim: 3.5 },
  { work: 'slow-disk', ours: 'pipewhy, 16 clients', against: 'pipewhy, 1 client', least: 5, aim: 6 },
  { work: 'processes', ours: 'pipewhy, 2 processes', against: 'pipewhy, 1 process', least: 1.1, aim: 1.5 },
  { work: 'download-large', ours: 'pipewhy', against: 'docker-registry', least: 0.35, aim: 0.5 },
  { work: 'download-large', ours: 'pipewhy, verify once', against: 'docker-registry', least: null, aim: 1 },
  { work: 'read-manifest', ours: 'pipewhy', against: 'docker-registry', least: 5, aim: 10 },
  { work: 'list-large', ours: 'pipewhy', against: 'sha256sum, 2 cores', least: 0.7, aim: 0.9 },
];

/** Resident bytes of the service of one process, whatever it does. */
export const MEMORY_TARGET = { least: 250e6, aim: 150e6 };
