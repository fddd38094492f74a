/** Problems of a publication, and of the store and the service that meet it or a read. */
const ID = '0123456789abcdef0123456789abcdef';
const ATTEMPT = 'staging/7d9f2c4be6a84f0f9f0c2f4a1f6f3b5e';
const SHA256 = '485c8e0f62f8433582b3cc2ae4f3f0236bac23899353059f54edb56487d12c82';

export const STORE_PROBLEMS = {
  snapshot_exists: {
    when: 'The id is taken: a snapshot, or anything else, already is where this one would go. Nothing is ever replaced.',
    remedy:
      'After a lost answer, compare manifest_sha256 with the digest of your own manifest: if they are equal, your ' +
      'publication succeeded. Otherwise choose a new id.',
    example: {
      detail: `snapshots/${ID} exists already and is never overwritten. If its manifest_sha256 is that of your manifest, it is the same manifest.`,
      details: { snapshot_id: ID, location: `snapshots/${ID}`, manifest_sha256: SHA256 },
    },
  },
  publication_in_progress: {
    when: 'The same id is being published by another request at this moment.',
    remedy:
      'Wait as long as Retry-After says, then look whether the snapshot is there before publishing again.',
    example: {
      detail: `Another publication of ${ID} is under way in this process; wait for its answer, then read the snapshot.`,
      details: { snapshot_id: ID, retry_after_seconds: 5 },
    },
  },
  limit_exceeded: {
    when: 'Something is larger than this service allows: the metadata, an array, a snapshot, the number of arrays, headers.',
    remedy: 'Send less, or have the operator raise the limit that is named in "limit".',
    example: {
      detail: 'The metadata is longer than 4194304 bytes, the limit metadata_bytes of this service.',
      details: { limit: 'metadata_bytes', expected: '4194304' },
    },
  },
  unsupported_media_type: {
    when: 'A publication is not multipart/form-data, or comes with a Content-Encoding or a coded part.',
    remedy: 'Send multipart/form-data with a boundary, and the bytes as they are.',
    example: {
      detail:
        'The Content-Type of the request is none; send a multipart/form-data body with a boundary parameter.',
      details: { expected: 'multipart/form-data; boundary=...' },
    },
  },
  range_not_satisfiable: {
    when: 'The range begins behind the end of the array.',
    remedy:
      'Ask for a range within the length that Content-Range names; a download that has every byte is complete.',
    example: {
      detail:
        'The range lies outside the 24 bytes there are; ask for one within them, or for everything without Range.',
      details: { byte_length: '24' },
    },
  },
  expectation_failed: {
    when: 'The Expect header asks for something else than 100-continue.',
    remedy: 'Leave the Expect header out, or expect 100-continue.',
    example: {
      detail: 'Nothing but 100-continue can be expected; leave the Expect header out.',
      details: { expected: '100-continue' },
    },
  },
  contract_violation: {
    when: 'The metadata document breaks rules of the contract; errors lists every violation at once.',
    remedy: 'Correct each path in errors and publish again.',
    example: {
      detail:
        'snapshot.coverage.returned_records: must equal expected_records 3 when status is COMPLETE; found 2',
      details: {
        errors: [
          {
            path: 'snapshot.coverage.returned_records',
            message: 'must equal expected_records 3 when status is COMPLETE; found 2',
          },
        ],
      },
    },
  },
  fingerprint_context_mismatch: {
    when: 'The fingerprint is not the declared context in every field.',
    remedy: 'Take the fields from GET /contexts, or have the operator declare the context.',
    example: {
      detail: 'snapshot.fingerprint.mode: must be "ordered", as declared; found "unordered"',
      details: {
        errors: [
          { path: 'snapshot.fingerprint.mode', message: 'must be "ordered", as declared; found "unordered"' },
        ],
      },
    },
  },
  parent_not_complete: {
    when: 'The parent is not published, or cannot be proven.',
    remedy: 'Publish the parent first, or leave parent_id null.',
    example: {
      detail: 'snapshot.parent_id: must be a published snapshot',
      details: {
        parent_id: ID,
        errors: [{ path: 'snapshot.parent_id', message: 'must be a published snapshot' }],
      },
    },
  },
  array_mismatch: {
    when: 'A part is missing, undeclared or there twice, or unlike its declared dtype, count, byte_length or sha256.',
    remedy:
      'Send exactly the declared arrays; what arrived of the refused ones stays visible in GET /incomplete.',
    example: {
      detail: 'arrays.ids.count: is declared 4, but 3 arrived',
      details: {
        errors: [{ path: 'arrays.ids.count', message: 'is declared 4, but 3 arrived' }],
        expected: '4',
        actual: '3',
      },
      attempt: ATTEMPT,
    },
  },
  storage_integrity: {
    when: 'Stored bytes do not prove what the manifest says of them. They are never handed out, in part or as a whole.',
    remedy:
      'Restore the package from a copy; it is proven again at the next read. A listing names every such id in errors.',
    example: {
      detail: 'array-ids.bin must be 24 bytes long, found 23.',
      details: {
        snapshot_id: ID,
        problem: 'length',
        location: 'array-ids.bin',
        expected: '24',
        actual: '23',
      },
    },
  },
  unsupported_package: {
    when: 'A stored package is sound, but of a format, version, dtype or algorithm that this service does not support.',
    remedy: 'Read it with software that does, or declare the algorithm; nothing is ever converted.',
    example: {
      detail: 'version: must be 1, found 2',
      details: {
        snapshot_id: ID,
        errors: [{ path: 'version', message: 'must be 1, found 2' }],
        expected: '1',
        actual: '2',
      },
    },
  },
  publication_failed: {
    when: 'The disk failed while the snapshot was being published. It is not published, and nothing is retried.',
    remedy: 'See the log for the cause, then publish again; the attempt stays visible in GET /incomplete.',
    example: {
      detail: `The disk failed at the step "payloads"; snapshot ${ID} was not published.`,
      details: { snapshot_id: ID, attempt: ATTEMPT, phase: 'payloads' },
    },
  },
  publication_uncertain: {
    when: 'The snapshot was put in place, but it could not be made sure that it outlasts a power cut.',
    remedy:
      'GET the location: if it answers with manifest_sha256 as its ETag, the snapshot is there and proven.',
    example: {
      detail: `snapshots/${ID} was renamed into place, but making that durable failed. The snapshot may be published: read it before anything else is tried; it is never overwritten.`,
      details: {
        snapshot_id: ID,
        location: `snapshots/${ID}`,
        manifest_sha256: SHA256,
        phase: 'parent sync',
      },
    },
  },
  internal_error: {
    when: 'The service failed in a way that it does not know.',
    remedy: 'Find the request in the log by the id in "instance" and report it.',
    example: {
      detail: 'The service failed unexpectedly; the log has the details under the id of this request.',
      details: {},
    },
  },
  unavailable: {
    when: 'The service is stopping, as many uploads run as may, or the store cannot be used for the moment.',
    remedy: 'Try again after as many seconds as Retry-After says.',
    example: {
      detail: 'The service is stopping; try again once it has been started anew.',
      details: { retry_after_seconds: 5 },
    },
  },
  insufficient_storage: {
    when: 'The disk is full, or the snapshot would take what is kept free.',
    remedy: 'Free space, then publish again; the attempt stays visible in GET /incomplete.',
    example: {
      detail: `The disk is full (ENOSPC) at the step "payloads"; snapshot ${ID} was not published. Free space, then publish again.`,
      details: { snapshot_id: ID, attempt: ATTEMPT, phase: 'payloads' },
    },
  },
} as const;
