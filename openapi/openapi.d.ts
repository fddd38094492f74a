export interface paths {
    "/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what is published
         * @description Every snapshot of the page is proven, byte for byte unless `proof=frame`; if one cannot be, the answer is 500 and names each that cannot, unless `damaged=show`. A page with `limit` is proven before its first byte and ends earlier, with `next`, after 4 MiB or some seconds of proving. Without `limit` it is everything, sent as it is proven: what cannot be proven within the first second or 256 KiB is 500, later it breaks the connection, never ends it cleanly. A few listings run at once; more wait two seconds and are then 503.
         */
        get: operations["listSnapshots"];
        put?: never;
        /**
         * Publish a snapshot
         * @description Answers 201 only when every byte is on disk, proven and in place; the snapshot never changes after that. A refused or failed publication leaves nothing under the id, and is never retried. `Expect: 100-continue` is honoured: what can be refused without the body is refused before it.
         */
        post: operations["publishSnapshot"];
        delete?: never;
        options?: never;
        /**
         * List what is published, the headers alone
         * @description Every snapshot of the page is proven, byte for byte unless `proof=frame`; if one cannot be, the answer is 500 and names each that cannot, unless `damaged=show`. A page with `limit` is proven before its first byte and ends earlier, with `next`, after 4 MiB or some seconds of proving. Without `limit` it is everything, sent as it is proven: what cannot be proven within the first second or 256 KiB is 500, later it breaks the connection, never ends it cleanly. A few listings run at once; more wait two seconds and are then 503.
         */
        head: operations["headListSnapshots"];
        patch?: never;
        trace?: never;
    };
    "/snapshots/{snapshot_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a snapshot
         * @description Every byte of the snapshot is proven first. A refusal never hands out a part of it.
         */
        get: operations["getSnapshot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read a snapshot, the headers alone
         * @description Every byte of the snapshot is proven first. A refusal never hands out a part of it.
         */
        head: operations["headGetSnapshot"];
        patch?: never;
        trace?: never;
    };
    "/snapshots/{snapshot_id}/manifest.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the manifest under its file name
         * @description Every byte of the snapshot is proven first. A refusal never hands out a part of it.
         */
        get: operations["getManifest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read the manifest under its file name, the headers alone
         * @description Every byte of the snapshot is proven first. A refusal never hands out a part of it.
         */
        head: operations["headGetManifest"];
        patch?: never;
        trace?: never;
    };
    "/snapshots/{snapshot_id}/complete.sha256": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the marker
         * @description SHA-256 of the manifest in hex and a newline; every byte of the snapshot was proven first.
         */
        get: operations["getMarker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read the marker, the headers alone
         * @description SHA-256 of the manifest in hex and a newline; every byte of the snapshot was proven first.
         */
        head: operations["headGetMarker"];
        patch?: never;
        trace?: never;
    };
    "/snapshots/{snapshot_id}/intent.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the intent
         * @description What the publication wrote first: canonical {"snapshot_id":"<id>"}. A package is whole without it, then this is `not_found`; where it is there, the Link of the manifest names it as related. Every byte of the snapshot was proven first.
         */
        get: operations["getIntent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read the intent, the headers alone
         * @description What the publication wrote first: canonical {"snapshot_id":"<id>"}. A package is whole without it, then this is `not_found`; where it is there, the Link of the manifest names it as related. Every byte of the snapshot was proven first.
         */
        head: operations["headGetIntent"];
        patch?: never;
        trace?: never;
    };
    "/snapshots/{snapshot_id}/package.tar": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the whole package as one archive
         * @description A POSIX tar archive with the files of the package, byte for byte, in a directory named by the id. Every byte is proven before the first one leaves; one that stops matching on the way breaks the connection.
         */
        get: operations["getPackage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read the whole package as one archive, the headers alone
         * @description A POSIX tar archive with the files of the package, byte for byte, in a directory named by the id. Every byte is proven before the first one leaves; one that stops matching on the way breaks the connection.
         */
        head: operations["headGetPackage"];
        patch?: never;
        trace?: never;
    };
    "/snapshots/{snapshot_id}/array-{key}.bin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an array as raw bytes
         * @description Little-endian, exactly as stored. Marker, manifest, inventory, all sizes and the SHA-256 of this array are proven before the first byte leaves, also for a range; bytes that stop matching on the way break the connection.
         */
        get: operations["getArray"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read an array as raw bytes, the headers alone
         * @description Little-endian, exactly as stored. Marker, manifest, inventory, all sizes and the SHA-256 of this array are proven before the first byte leaves, also for a range; bytes that stop matching on the way break the connection.
         */
        head: operations["headGetArray"];
        patch?: never;
        trace?: never;
    };
    "/snapshots/{snapshot_id}/array-{key}.npy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an array as a .npy file
         * @description The same bytes behind a header that numpy.load takes; the same proofs before the first byte.
         */
        get: operations["getArrayAsNpy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read an array as a .npy file, the headers alone
         * @description The same bytes behind a header that numpy.load takes; the same proofs before the first byte.
         */
        head: operations["headGetArrayAsNpy"];
        patch?: never;
        trace?: never;
    };
    "/snapshots/{snapshot_id}/compare/{other}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two snapshots
         * @description Every byte of both is proven first; a side that cannot be is refused by its id. Arrays of equal SHA-256 are equal; of those that are not, every element is compared, exactly. With a `key`, rows are aligned by the values of that array; arrays of another length than it are still compared by position. Where its values ascend on both sides, arrays of any length are merged; otherwise some two million rows of a side are put in order, and more are refused, as are values that repeat. Few comparisons run at once; more wait for a minute and are then 503.
         */
        get: operations["compareSnapshots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Compare two snapshots, the headers alone
         * @description Every byte of both is proven first; a side that cannot be is refused by its id. Arrays of equal SHA-256 are equal; of those that are not, every element is compared, exactly. With a `key`, rows are aligned by the values of that array; arrays of another length than it are still compared by position. Where its values ascend on both sides, arrays of any length are merged; otherwise some two million rows of a side are put in order, and more are refused, as are values that repeat. Few comparisons run at once; more wait for a minute and are then 503.
         */
        head: operations["headCompareSnapshots"];
        patch?: never;
        trace?: never;
    };
    "/incomplete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List attempts that are no snapshots
         * @description Running publications and what failed ones left, judged and never changed. A VALIDATED attempt is no snapshot.
         */
        get: operations["listIncomplete"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * List attempts that are no snapshots, the headers alone
         * @description Running publications and what failed ones left, judged and never changed. A VALIDATED attempt is no snapshot.
         */
        head: operations["headListIncomplete"];
        patch?: never;
        trace?: never;
    };
    "/contexts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the fingerprint declarations in force
         * @description A publication names one of these contexts, with every field as it is declared here.
         */
        get: operations["getContexts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read the fingerprint declarations in force, the headers alone
         * @description A publication names one of these contexts, with every field as it is declared here.
         */
        head: operations["headGetContexts"];
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tell whether the process answers
         * @description Looks at nothing: whoever gets it knows that the process takes requests.
         */
        get: operations["isAlive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Tell whether the process answers, the headers alone
         * @description Looks at nothing: whoever gets it knows that the process takes requests.
         */
        head: operations["headIsAlive"];
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tell whether requests can be served
         * @description The root can be written, the disk has room, and the service is not stopping. Reads no payload.
         */
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Tell whether requests can be served, the headers alone
         * @description The root can be written, the disk has room, and the service is not stopping. Reads no payload.
         */
        head: operations["headIsReady"];
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read counters and gauges
         * @description Requests, publications, bytes, proofs and the disk, in the text format that Prometheus scrapes.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read counters and gauges, the headers alone
         * @description Requests, publications, bytes, proofs and the disk, in the text format that Prometheus scrapes.
         */
        head: operations["headGetMetrics"];
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open the page, or read what there is
         * @description For browsers, that is where Accept names text/html, the page on which the store is looked at; for everyone else an index of the resources.
         */
        get: operations["getRoot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Open the page, or read what there is, the headers alone
         * @description For browsers, that is where Accept names text/html, the page on which the store is looked at; for everyone else an index of the resources.
         */
        head: operations["headGetRoot"];
        patch?: never;
        trace?: never;
    };
    "/page/{page_file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file of the page
         * @description Scripts, styles and the icon that the page names; nothing is loaded from any other host.
         */
        get: operations["getPageFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read a file of the page, the headers alone
         * @description Scripts, styles and the icon that the page names; nothing is loaded from any other host.
         */
        head: operations["headGetPageFile"];
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read this document
         * @description Its version is that of the package; `npm run openapi` writes the same document to a file.
         */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read this document, the headers alone
         * @description Its version is that of the package; `npm run openapi` writes the same document to a file.
         */
        head: operations["headGetOpenApi"];
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open the interactive page
         * @description Also with a slash at the end of its path.
         */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Open the interactive page, the headers alone
         * @description Also with a slash at the end of its path.
         */
        head: operations["headGetDocs"];
        patch?: never;
        trace?: never;
    };
    "/docs/json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the document as the interactive page shows it
         * @description Arrays are chosen as files there, and named by them; use /openapi.json for everything else.
         */
        get: operations["getDocsDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read the document as the interactive page shows it, the headers alone
         * @description Arrays are chosen as files there, and named by them; use /openapi.json for everything else.
         */
        head: operations["headGetDocsDocument"];
        patch?: never;
        trace?: never;
    };
    "/docs/yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the document as the interactive page shows it, as YAML
         * @description The same as /docs/json in another notation.
         */
        get: operations["getDocsYaml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read the document as the interactive page shows it, as YAML, the headers alone
         * @description The same as /docs/json in another notation.
         */
        head: operations["headGetDocsYaml"];
        patch?: never;
        trace?: never;
    };
    "/docs/static/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file of the interactive page
         * @description Scripts and styles that /docs names; nothing is loaded from any other host.
         */
        get: operations["getDocsAsset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read a file of the interactive page, the headers alone
         * @description Scripts and styles that /docs names; nothing is loaded from any other host.
         */
        head: operations["headGetDocsAsset"];
        patch?: never;
        trace?: never;
    };
    "/problems": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read about all problem codes
         * @description One line for each, with its status.
         */
        get: operations["listProblems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read about all problem codes, the headers alone
         * @description One line for each, with its status.
         */
        head: operations["headListProblems"];
        patch?: never;
        trace?: never;
    };
    "/problems/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read about a problem code
         * @description The type of every problem document leads here.
         */
        get: operations["getProblem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        /**
         * Read about a problem code, the headers alone
         * @description The type of every problem document leads here.
         */
        head: operations["headGetProblem"];
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The manifest of a published snapshot; stored and sent as canonical JSON */
        Manifest: {
            /** @constant */
            format: "pipewhy.snapshot";
            /** @constant */
            version: 1;
            /** @constant */
            array_schema_version: "1.0";
            snapshot: components["schemas"]["SnapshotMetadata"];
            /** @description The arrays by key, [a-z][a-z0-9_]{0,63} */
            arrays: {
                [key: string]: components["schemas"]["ArrayEntry"];
            };
        };
        /** @description One explicitly versioned source scope */
        SnapshotMetadata: {
            /**
             * @description 32 lowercase hex digits that the producer chooses
             * @example 0123456789abcdef0123456789abcdef
             */
            snapshot_id: string;
            /** @description A snapshot that is published already, or null for none */
            parent_id: string | null;
            /** @description Where the data lives */
            source_namespace: string;
            /** @description Which version of the source was read */
            source_version: string;
            /** @description How consistent the read was */
            source_consistency: string;
            /** @description What part of the source was read */
            scope: string;
            /**
             * @description Begin of the capture in epoch nanoseconds; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            started_at_ns: string;
            /**
             * @description End of the capture in epoch nanoseconds, not before the begin; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            finished_at_ns: string;
            /**
             * @description The detail that is retained
             * @enum {string}
             */
            resolution: "dataset" | "record" | "value";
            coverage: components["schemas"]["Coverage"];
            fingerprint: components["schemas"]["Fingerprint"];
        };
        /** @description COMPLETE: expected_records is known and equals returned_records, no failure_reasons. PARTIAL: failure_reasons, and returned_records is at most a known expected_records. UNAVAILABLE: failure_reasons, and returned_records is "0". */
        Coverage: {
            /**
             * @description How much of the scope was captured
             * @enum {string}
             */
            status: "COMPLETE" | "PARTIAL" | "UNAVAILABLE";
            /** @description Records the source should have given, null if unknown; unknown is not zero; an unsigned 64-bit integer as a decimal string */
            expected_records: string | null;
            /**
             * @description Records that were captured; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            returned_records: string;
            /** @description Empty exactly when COMPLETE */
            failure_reasons: string[];
        };
        /** @description The full identity of the fingerprint context; must equal a declared context (GET /contexts) */
        Fingerprint: {
            /** @description Name of the fingerprint algorithm */
            algorithm_name: string;
            /** @description Full id of the fingerprint algorithm */
            algorithm_id: string;
            /** @description Id of the declared context */
            context_id: string;
            /** @description Full id of the normalization profile */
            normalization_profile_id: string;
            /** @description Id of the source schema */
            source_schema_id: string;
            /** @description Mode of the context */
            mode: string;
        };
        /** @description One array of a published snapshot */
        ArrayEntry: {
            /** @description array-<key>.bin */
            file: string;
            /**
             * @description Type of the elements
             * @enum {string}
             */
            dtype: "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64";
            /**
             * @description Elements; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            count: string;
            /**
             * @description Bytes: count times the width of the dtype; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            byte_length: string;
            /**
             * @description Byte order of the elements
             * @constant
             */
            endianness: "little";
            /** @description SHA-256 of the exact bytes, lowercase hex */
            sha256: string;
        };
        /** @description What a producer says of a snapshot; a whole manifest is a valid document */
        DraftManifest: {
            /** @constant */
            format?: "pipewhy.snapshot";
            /** @constant */
            version?: 1;
            /** @constant */
            array_schema_version?: "1.0";
            snapshot: components["schemas"]["DraftSnapshot"];
            /** @description The arrays to come by key, [a-z][a-z0-9_]{0,63}; one part each */
            arrays: {
                [key: string]: components["schemas"]["DraftArray"];
            };
        };
        /** @description One explicitly versioned source scope; parent_id may be left out */
        DraftSnapshot: {
            /**
             * @description 32 lowercase hex digits that the producer chooses
             * @example 0123456789abcdef0123456789abcdef
             */
            snapshot_id: string;
            /** @description A snapshot that is published already, or null for none */
            parent_id?: string | null;
            /** @description Where the data lives */
            source_namespace: string;
            /** @description Which version of the source was read */
            source_version: string;
            /** @description How consistent the read was */
            source_consistency: string;
            /** @description What part of the source was read */
            scope: string;
            /**
             * @description Begin of the capture in epoch nanoseconds; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            started_at_ns: string;
            /**
             * @description End of the capture in epoch nanoseconds, not before the begin; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            finished_at_ns: string;
            /**
             * @description The detail that is retained
             * @enum {string}
             */
            resolution: "dataset" | "record" | "value";
            coverage: components["schemas"]["Coverage"];
            fingerprint: components["schemas"]["Fingerprint"];
        };
        /** @description One array to come; dtype is needed unless its part is a .npy file, and all that is given must match the bytes */
        DraftArray: {
            /** @description array-<key>.bin */
            file?: string;
            /**
             * @description Type of the elements
             * @enum {string}
             */
            dtype?: "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64";
            /**
             * @description Elements; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            count?: string;
            /**
             * @description Bytes: count times the width of the dtype; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            byte_length?: string;
            /**
             * @description Byte order of the elements
             * @constant
             */
            endianness?: "little";
            /** @description SHA-256 of the exact bytes, lowercase hex */
            sha256?: string;
        };
        /** @description The fingerprint algorithms and contexts in force */
        Declarations: {
            /** @description The current fingerprint algorithms; no pair of name and id twice */
            algorithms: {
                /** @description Name of the algorithm */
                name: string;
                /** @description Full id of the algorithm */
                id: string;
            }[];
            /** @description The current fingerprint contexts */
            contexts: {
                /** @description Id of the context, once each */
                context_id: string;
                /** @description Id of a declared algorithm */
                algorithm_id: string;
                /** @description Full id of the normalization profile */
                normalization_profile_id: string;
                /** @description Id of the source schema */
                source_schema_id: string;
                /** @description Mode of the context */
                mode: string;
            }[];
        };
        /** @description A page of snapshots */
        SnapshotListing: {
            /**
             * @description What of each entry was proven before it was listed
             * @enum {string}
             */
            proof: "all" | "frame";
            /** @description In the order that was asked for; damaged ones only where the listing was asked to show them */
            snapshots: (components["schemas"]["SnapshotSummary"] | components["schemas"]["DamagedSnapshot"])[];
            /** @description Pass it as after to go on; null at the end */
            next: string | null;
        };
        /** @description One published snapshot, proven as far as the listing says */
        SnapshotSummary: {
            /** @example 0123456789abcdef0123456789abcdef */
            snapshot_id: string;
            parent_id: string | null;
            /** @description Where the data lives */
            source_namespace: string;
            /** @description Which version of the source was read */
            source_version: string;
            /** @description What part of the source was read */
            scope: string;
            /** @enum {string} */
            resolution: "dataset" | "record" | "value";
            /** @enum {string} */
            coverage_status: "COMPLETE" | "PARTIAL" | "UNAVAILABLE";
            /**
             * @description Epoch nanoseconds; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            started_at_ns: string;
            /**
             * @description Epoch nanoseconds; an unsigned 64-bit integer as a decimal string
             * @example 3
             */
            finished_at_ns: string;
            /** @description Arrays */
            array_count: number;
            /** @description Sum of the payloads in bytes, decimal */
            byte_length: string;
            /** @description Of the manifest, as in its ETag */
            manifest_sha256: string;
        };
        /** @description An entry that cannot be proven, where the listing was asked to show such */
        DamagedSnapshot: {
            /** @description The name of the entry: an id, or whatever foreign thing lies there */
            snapshot_id: string;
            /** @description Why it cannot be proven */
            problem: {
                /** @description The code of its problem */
                code: string;
                /** @description What does not hold */
                detail: string;
            };
        };
        /** @description How two snapshots differ; every byte of both was proven first */
        Comparison: {
            /** @example 0123456789abcdef0123456789abcdef */
            from: string;
            /** @example 0123456789abcdef0123456789abcdef */
            to: string;
            /** @description All arrays are equal, and so are both coverages; ids, parents and times do not count */
            equal: boolean;
            /** @description There are no obstacles */
            comparable: boolean;
            /** @description Differences of the fingerprint identity, the resolution or the scope; they never stop the comparison */
            obstacles: {
                /** @description Dotted: snapshot.coverage.status */
                path: string;
                from: (string | string[]) | null;
                to: (string | string[]) | null;
            }[];
            /** @description Every field of the snapshot that differs, by path */
            metadata: {
                /** @description Dotted: snapshot.coverage.status */
                path: string;
                from: (string | string[]) | null;
                to: (string | string[]) | null;
            }[];
            /** @description Every array of either side */
            arrays: {
                [key: string]: {
                    /**
                     * @description equal: the same dtype and bytes. changed: the same dtype, other bytes. added, removed: only one side has it. retyped: of another dtype; nothing is compared element by element then
                     * @enum {string}
                     */
                    status: "equal" | "changed" | "added" | "removed" | "retyped";
                    /** @description The array on this side, null where it has none */
                    from: {
                        /**
                         * @description Type of the elements
                         * @enum {string}
                         */
                        dtype: "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64";
                        /**
                         * @description Elements; an unsigned 64-bit integer as a decimal string
                         * @example 3
                         */
                        count: string;
                        /** @description Of its exact bytes */
                        sha256: string;
                    } | null;
                    /** @description The array on this side, null where it has none */
                    to: {
                        /**
                         * @description Type of the elements
                         * @enum {string}
                         */
                        dtype: "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64";
                        /**
                         * @description Elements; an unsigned 64-bit integer as a decimal string
                         * @example 3
                         */
                        count: string;
                        /** @description Of its exact bytes */
                        sha256: string;
                    } | null;
                    /**
                     * @description Elements that differ; those beyond the shorter length do. With a key, of an array as long as the key on each side: rows of both sides in which it differs; an unsigned 64-bit integer as a decimal string
                     * @example 3
                     */
                    differing: string;
                    /** @description Index of the first of them; with a key the least index of such a row in from; an unsigned 64-bit integer as a decimal string */
                    first: string | null;
                    /** @description Index of the last of them; with a key the greatest index of such a row in from; an unsigned 64-bit integer as a decimal string */
                    last: string | null;
                    /** @description The first of them that both sides have, at most 10; with a key in the order of the keys */
                    examples: {
                        /**
                         * @description Its index; with a key that of its row in from; an unsigned 64-bit integer as a decimal string
                         * @example 3
                         */
                        index: string;
                        /** @description Its exact value in from, decimal */
                        from: string;
                        /** @description Its exact value in to, decimal */
                        to: string;
                    }[];
                };
            };
            /** @description Rows aligned by the values of one array; only where a key was given */
            rows?: {
                /** @description Key of that array */
                key: string;
                /**
                 * @description Rows that only to has; an unsigned 64-bit integer as a decimal string
                 * @example 3
                 */
                added: string;
                /**
                 * @description Rows that only from has; an unsigned 64-bit integer as a decimal string
                 * @example 3
                 */
                removed: string;
                /**
                 * @description Rows of both that differ in at least one array as long as the key; an unsigned 64-bit integer as a decimal string
                 * @example 3
                 */
                changed: string;
                /**
                 * @description Rows of both that do not; an unsigned 64-bit integer as a decimal string
                 * @example 3
                 */
                same: string;
                /** @description The first that are not the same in the order of their keys, at most 10 */
                examples: {
                    /** @description The value of the key, decimal */
                    key: string;
                    /**
                     * @description added: only to has it. removed: only from has it
                     * @enum {string}
                     */
                    kind: "added" | "removed" | "changed";
                    /** @description In which a changed row differs */
                    arrays: string[];
                }[];
            };
        };
        /** @description A page of attempts */
        IncompleteListing: {
            /** @description In the order of their names */
            incomplete: components["schemas"]["IncompleteAttempt"][];
            /** @description Pass it as after to go on; null at the end */
            next: string | null;
        };
        /** @description One attempt that is not, or not yet, a snapshot */
        IncompleteAttempt: {
            /** @description Relative to the root: in staging/ of a directory, in packages/ on an engine */
            path: string;
            /** @description The id that was to be published, null where it cannot be told */
            snapshot_id: string | null;
            /**
             * @description STAGING: an intent without a marker. VALIDATED: whole, but never put in place. INVALID: bytes or names that no running publication leaves. UNAVAILABLE: cannot be read.
             * @enum {string}
             */
            phase: "STAGING" | "VALIDATED" | "INVALID" | "UNAVAILABLE";
            /** @description What was found, concretely */
            diagnostic: string;
            /** @description Sum of its regular files in bytes, decimal */
            byte_length: string;
            /** @description The latest change, UTC */
            modified_at: string | null;
        };
        /** @description What is at this service */
        ServiceIndex: {
            /** @constant */
            name: "pipewhy-snapshots";
            /** @description Of the package */
            version: string;
            /** @description Paths that can be read without knowing any id, and what each is for */
            resources: {
                [key: string]: string;
            };
        };
        /** @description The process answers */
        Alive: {
            /** @constant */
            status: "alive";
        };
        /** @description Requests can be served */
        Ready: {
            /** @constant */
            status: "ready";
            /** @description True where nothing can be published here */
            read_only: boolean;
        };
        /** @description A refusal (RFC 9457). Which members beside the first six there are depends on the code; see /problems/<code>. */
        Problem: {
            /** @description A page about this code, relative */
            type: string;
            /** @enum {string} */
            title: "The multipart body is malformed" | "The metadata is not strict JSON" | "The first part is not the metadata" | "The request is invalid" | "Not a snapshot id" | "A token is needed" | "The Host is not allowed" | "Cross-site requests are not allowed" | "No such snapshot" | "No such array" | "No such resource" | "The method is not allowed here" | "The upload stalled" | "The snapshot exists" | "The snapshot is being published" | "The precondition does not hold" | "A limit is exceeded" | "The media type is not supported" | "The range cannot be satisfied" | "The expectation cannot be met" | "The document breaks the contract" | "The fingerprint context does not match its declaration" | "The parent is not a published, valid snapshot" | "The arrays are not those declared" | "Stored bytes cannot be proven" | "The stored package is of an unsupported kind" | "The publication failed" | "The publication may have succeeded" | "Unexpected error" | "Not available for the moment" | "Not enough storage";
            /** @enum {integer} */
            status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 412 | 413 | 415 | 416 | 417 | 422 | 431 | 500 | 503 | 507;
            /** @description What was wrong, where, what was expected, what to do */
            detail: string;
            /** @description Names the request in the log */
            instance: string;
            /**
             * @description Stable; what programs decide by
             * @enum {string}
             */
            code: "malformed_multipart" | "malformed_json" | "metadata_missing" | "invalid_request" | "invalid_snapshot_id" | "unauthorized" | "forbidden_host" | "forbidden_origin" | "snapshot_not_found" | "array_not_found" | "not_found" | "method_not_allowed" | "upload_stalled" | "snapshot_exists" | "publication_in_progress" | "precondition_failed" | "limit_exceeded" | "unsupported_media_type" | "range_not_satisfiable" | "expectation_failed" | "contract_violation" | "fingerprint_context_mismatch" | "parent_not_complete" | "array_mismatch" | "storage_integrity" | "unsupported_package" | "publication_failed" | "publication_uncertain" | "internal_error" | "unavailable" | "insufficient_storage";
            /** @description Where the failed attempt stays, relative to the root; see GET /incomplete */
            attempt?: string;
            line?: number;
            column?: number;
            /** @description Every violation at once */
            errors?: components["schemas"]["Violation"][];
            /** @description What would have been right; of a limit: at most this */
            expected?: string;
            /** @description What was found */
            actual?: string;
            /** @description The snapshot that was meant */
            snapshot_id?: string;
            /** @description The key that was meant */
            array?: string;
            /** @description The limit that was reached */
            idle_seconds?: number;
            /** @description Where to look: the path of the snapshot at this service, or the file whose proof failed */
            location?: string;
            /** @description SHA-256 of the stored manifest, the one of its ETag */
            manifest_sha256?: string;
            /** @description Seconds to wait, also in Retry-After */
            retry_after_seconds?: number;
            /**
             * @description Which limit
             * @enum {string}
             */
            limit?: "metadata_bytes" | "metadata_values" | "arrays" | "array_bytes" | "snapshot_bytes" | "part_header_bytes" | "part_header_lines" | "request_headers" | "chunk_extensions";
            /** @description Bytes there are, decimal */
            byte_length?: string;
            /** @description The parent that was meant */
            parent_id?: string;
            /**
             * @description Which proof failed (PW-07.03)
             * @enum {string}
             */
            problem?: "package" | "marker" | "manifest" | "inventory" | "intent" | "length" | "checksum" | "unreadable" | "foreign";
            /** @description The step of the publication that failed */
            phase?: string;
        };
        /** @description One violation */
        Violation: {
            /** @description Dotted: snapshot.coverage.status, arrays.ids.dtype, empty for the document itself; in a listing the id */
            path: string;
            /** @description What was expected and what was found */
            message: string;
        };
    };
    responses: {
        /** @description `invalid_request`: A query parameter, a header or the path cannot be used, or the content is not what Content-Digest says of it. */
        HeadRefusal400InvalidRequest: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description `invalid_request`: A query parameter, a header or the path cannot be used, or the content is not what Content-Digest says of it.
         *
         *     `invalid_snapshot_id`: The snapshot id in the path is none.
         */
        HeadRefusal400InvalidRequestInvalidSnapshotId: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `unauthorized`: The service was started with a token, and the request has none or another one. */
        HeadRefusal401Unauthorized: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description `forbidden_host`: The Host header names none of the hosts that the service answers to, as with DNS rebinding.
         *
         *     `forbidden_origin`: A browser says that the request comes from a page of another site.
         */
        HeadRefusal403ForbiddenHostForbiddenOrigin: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `not_found`: There is nothing at this path. */
        HeadRefusal404NotFound: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description `snapshot_not_found`: No snapshot of this id is published; there is no latest version and no live source to fall back on.
         *
         *     `array_not_found`: The snapshot is there and has no array of this key.
         *
         *     `not_found`: There is nothing at this path.
         */
        HeadRefusal404SnapshotNotFoundArrayNotFoundNotFound: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description `snapshot_not_found`: No snapshot of this id is published; there is no latest version and no live source to fall back on.
         *
         *     `not_found`: There is nothing at this path.
         */
        HeadRefusal404SnapshotNotFoundNotFound: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `upload_stalled`: A client sent nothing for longer than the idle limit, though the service was ready to read. */
        HeadRefusal408UploadStalled: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `precondition_failed`: If-Match names another state than the stored one, or comes with a publication. */
        HeadRefusal412PreconditionFailed: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `limit_exceeded`: Something is larger than this service allows: the metadata, an array, a snapshot, the number of arrays, headers. */
        HeadRefusal413LimitExceeded: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `expectation_failed`: The Expect header asks for something else than 100-continue. */
        HeadRefusal417ExpectationFailed: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `limit_exceeded`: Something is larger than this service allows: the metadata, an array, a snapshot, the number of arrays, headers. */
        HeadRefusal431LimitExceeded: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `internal_error`: The service failed in a way that it does not know. */
        HeadRefusal500InternalError: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description `storage_integrity`: Stored bytes do not prove what the manifest says of them. They are never handed out, in part or as a whole.
         *
         *     `internal_error`: The service failed in a way that it does not know.
         */
        HeadRefusal500StorageIntegrityInternalError: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description `storage_integrity`: Stored bytes do not prove what the manifest says of them. They are never handed out, in part or as a whole.
         *
         *     `unsupported_package`: A stored package is sound, but of a format, version, dtype or algorithm that this service does not support.
         *
         *     `internal_error`: The service failed in a way that it does not know.
         */
        HeadRefusal500StorageIntegrityUnsupportedPackageInternalError: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `unavailable`: The service is stopping, as many uploads run as may, or the store cannot be used for the moment. */
        HeadRefusal503Unavailable: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `invalid_request`: A query parameter, a header or the path cannot be used, or the content is not what Content-Digest says of it. */
        Refusal400InvalidRequest: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `invalid_request`: A query parameter, a header or the path cannot be used, or the content is not what Content-Digest says of it.
         *
         *     `invalid_snapshot_id`: The snapshot id in the path is none.
         */
        Refusal400InvalidRequestInvalidSnapshotId: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `malformed_multipart`: The body of a publication cannot be read as multipart/form-data in one way only, or is cut short.
         *
         *     `malformed_json`: The metadata is no strict JSON: duplicate names, invalid UTF-8, a byte order mark, NaN, or text behind its end.
         *
         *     `metadata_missing`: The first part of the body is not named "metadata".
         *
         *     `invalid_request`: A query parameter, a header or the path cannot be used, or the content is not what Content-Digest says of it.
         */
        Refusal400MalformedMultipartMalformedJsonMetadataMissingInvalidRequest: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unauthorized`: The service was started with a token, and the request has none or another one. */
        Refusal401Unauthorized: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `forbidden_host`: The Host header names none of the hosts that the service answers to, as with DNS rebinding.
         *
         *     `forbidden_origin`: A browser says that the request comes from a page of another site.
         */
        Refusal403ForbiddenHostForbiddenOrigin: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `not_found`: There is nothing at this path. */
        Refusal404NotFound: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `snapshot_not_found`: No snapshot of this id is published; there is no latest version and no live source to fall back on.
         *
         *     `array_not_found`: The snapshot is there and has no array of this key.
         *
         *     `not_found`: There is nothing at this path.
         */
        Refusal404SnapshotNotFoundArrayNotFoundNotFound: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `snapshot_not_found`: No snapshot of this id is published; there is no latest version and no live source to fall back on.
         *
         *     `not_found`: There is nothing at this path.
         */
        Refusal404SnapshotNotFoundNotFound: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `method_not_allowed`: The resource does not know the method, or the service is read-only and the request publishes. */
        Refusal405MethodNotAllowed: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `upload_stalled`: A client sent nothing for longer than the idle limit, though the service was ready to read. */
        Refusal408UploadStalled: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `snapshot_exists`: The id is taken: a snapshot, or anything else, already is where this one would go. Nothing is ever replaced.
         *
         *     `publication_in_progress`: The same id is being published by another request at this moment.
         */
        Refusal409SnapshotExistsPublicationInProgress: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                /**
                 * @description Seconds to wait before trying again; with `publication_in_progress`
                 * @example 5
                 */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `precondition_failed`: If-Match names another state than the stored one, or comes with a publication. */
        Refusal412PreconditionFailed: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `limit_exceeded`: Something is larger than this service allows: the metadata, an array, a snapshot, the number of arrays, headers. */
        Refusal413LimitExceeded: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unsupported_media_type`: A publication is not multipart/form-data, or comes with a Content-Encoding or a coded part. */
        Refusal415UnsupportedMediaType: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `range_not_satisfiable`: The range begins behind the end of the array. */
        Refusal416RangeNotSatisfiable: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                "Content-Range": components["headers"]["Content-Range"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `expectation_failed`: The Expect header asks for something else than 100-continue. */
        Refusal417ExpectationFailed: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `contract_violation`: The metadata document breaks rules of the contract; errors lists every violation at once.
         *
         *     `fingerprint_context_mismatch`: The fingerprint is not the declared context in every field.
         *
         *     `parent_not_complete`: The parent is not published, or cannot be proven.
         *
         *     `array_mismatch`: A part is missing, undeclared or there twice, or unlike its declared dtype, count, byte_length or sha256.
         */
        Refusal422ContractViolationFingerprintContextMismatchParentNotCompleteArrayMismatch: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `limit_exceeded`: Something is larger than this service allows: the metadata, an array, a snapshot, the number of arrays, headers. */
        Refusal431LimitExceeded: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `internal_error`: The service failed in a way that it does not know. */
        Refusal500InternalError: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `publication_failed`: The disk failed while the snapshot was being published. It is not published, and nothing is retried.
         *
         *     `publication_uncertain`: The snapshot was put in place, but it could not be made sure that it outlasts a power cut.
         *
         *     `internal_error`: The service failed in a way that it does not know.
         */
        Refusal500PublicationFailedPublicationUncertainInternalError: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `storage_integrity`: Stored bytes do not prove what the manifest says of them. They are never handed out, in part or as a whole.
         *
         *     `internal_error`: The service failed in a way that it does not know.
         */
        Refusal500StorageIntegrityInternalError: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `storage_integrity`: Stored bytes do not prove what the manifest says of them. They are never handed out, in part or as a whole.
         *
         *     `unsupported_package`: A stored package is sound, but of a format, version, dtype or algorithm that this service does not support.
         *
         *     `internal_error`: The service failed in a way that it does not know.
         */
        Refusal500StorageIntegrityUnsupportedPackageInternalError: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unavailable`: The service is stopping, as many uploads run as may, or the store cannot be used for the moment. */
        Refusal503Unavailable: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `insufficient_storage`: The disk is full, or the snapshot would take what is kept free. */
        Refusal507InsufficientStorage: {
            headers: {
                "Cache-Control": components["headers"]["Cache-Control"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "X-Frame-Options": components["headers"]["X-Frame-Options"];
                "Referrer-Policy": components["headers"]["Referrer-Policy"];
                "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                "Content-Length": components["headers"]["Content-Length"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description A strong entity tag made of the SHA-256 of the bytes (of a package.tar, a .npy file and what is compressed: of what they are made of). It never changes for a published snapshot.
         * @example "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
         */
        ETag: string;
        /**
         * @description SHA-256 of the whole representation (RFC 9530), also with a range and a HEAD. It is sent whatever Want-Repr-Digest says; only a .npy file has it just where it is asked for.
         * @example sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:
         */
        "Repr-Digest": string;
        /**
         * @description The path of the snapshot that was published
         * @example /snapshots/0123456789abcdef0123456789abcdef
         */
        Location: string;
        /**
         * @description RFC 8288: predecessor-version for the parent, item for each array (of up to 64 arrays) and related for the intent.json of a snapshot; next for the next page of a listing
         * @example </snapshots/0123456789abcdef0123456789abcdef/array-ids.bin>; rel="item"
         */
        Link: string;
        /**
         * @description Type of the elements
         * @example uint64
         */
        "Array-Dtype": "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64";
        /**
         * @description Elements, decimal
         * @example 3
         */
        "Array-Count": string;
        /**
         * @description Byte order of the elements
         * @example little
         */
        "Array-Endianness": "little";
        /**
         * @description bytes where a Range can be asked for, none where not
         * @example bytes
         */
        "Accept-Ranges": "bytes" | "none";
        /**
         * @description Which bytes of how many these are; `bytes *\/<length>` in a 416
         * @example bytes 0-7/24
         */
        "Content-Range": string;
        /**
         * @description The file name to save under
         * @example attachment; filename="array-ids.bin"
         */
        "Content-Disposition": string;
        /**
         * @description Bytes of the content; a HEAD says those of the GET
         * @example 24
         */
        "Content-Length": number;
        /**
         * @description The headers of the request that decide what is sent
         * @example accept-encoding
         */
        Vary: string;
        /**
         * @description Only files of the page are ever compressed, for whoever takes that
         * @example gzip
         */
        "Content-Encoding": "gzip";
        /**
         * @description A copy may be kept but is to be asked for anew: every answer is proven anew. Refusals and probes are never kept.
         * @example private, no-cache
         */
        "Cache-Control": string;
        /**
         * @description The methods that can be used here
         * @example GET, HEAD
         */
        Allow: string;
        /**
         * @description Seconds to wait before trying again
         * @example 5
         */
        "Retry-After": number;
        /**
         * @description How to send the token (RFC 6750)
         * @example Bearer realm="pipewhy-snapshots"
         */
        "WWW-Authenticate": string;
        /**
         * @description When the file was changed
         * @example Fri, 01 May 2026 12:00:00 GMT
         */
        "Last-Modified": string;
        /**
         * @description The Content-Type is meant
         * @example nosniff
         */
        "X-Content-Type-Options": "nosniff";
        /**
         * @description No page may frame this
         * @example DENY
         */
        "X-Frame-Options": "DENY";
        /**
         * @description The address is given to nobody
         * @example no-referrer
         */
        "Referrer-Policy": "no-referrer";
        /**
         * @description No other site may embed this
         * @example same-origin
         */
        "Cross-Origin-Resource-Policy": "same-origin";
        /**
         * @description What a browser may load and run: nothing, but for pages their own files
         * @example default-src 'none'; frame-ancestors 'none'
         */
        "Content-Security-Policy": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listSnapshots: {
        parameters: {
            query?: {
                /** @description At most this many; everything where it is left out */
                limit?: number;
                /** @description `next` of the page before, in the same order; in the order of ids any id */
                after?: string;
                /** @description Only snapshots of exactly this source_namespace */
                source_namespace?: string;
                /** @description Only snapshots with this parent */
                parent_id?: string;
                /** @description Only snapshots whose finished_at_ns is not before this time, in epoch nanoseconds */
                since?: string;
                /** @description Only snapshots whose finished_at_ns is not after this time, in epoch nanoseconds */
                until?: string;
                /** @description By id, or the last finished first (finished_at_ns) and then by id */
                order?: "id" | "newest";
                /** @description What is proven of each: every byte, or marker, manifest, inventory and lengths only */
                proof?: "all" | "frame";
                /** @description Whether what cannot be proven fails the listing or is shown in it, with its problem */
                damaged?: "fail" | "show";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of snapshots */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SnapshotListing"];
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    publishSnapshot: {
        parameters: {
            query?: never;
            header?: {
                /** @description sha-256 or sha-512 of the whole body (RFC 9530). What does not match is refused, and nothing is published; other algorithms are passed over. */
                "Content-Digest"?: string;
                /** @description Accepted and always kept: a publication creates a snapshot or answers 409, with or without it */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The part `metadata` comes first. Then one part for each array that it declares, in any order, named by its key or by its file name `array-<key>.bin`: every byte of it is payload, little-endian, `count` times the width of the dtype. A part of the media type `application/x-npy`, named by its key or `array-<key>.npy`, is a .npy file: its header is read for dtype and count, and the raw payload is stored. File names and other media types of parts do not matter. What is declared has to arrive, and what arrives has to be declared. */
        requestBody: {
            content: {
                "multipart/form-data": {
                    metadata: components["schemas"]["DraftManifest"];
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Published. The content is the manifest's exact bytes. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Manifest"];
                };
            };
            400: components["responses"]["Refusal400MalformedMultipartMalformedJsonMetadataMissingInvalidRequest"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            405: components["responses"]["Refusal405MethodNotAllowed"];
            408: components["responses"]["Refusal408UploadStalled"];
            409: components["responses"]["Refusal409SnapshotExistsPublicationInProgress"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            415: components["responses"]["Refusal415UnsupportedMediaType"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            422: components["responses"]["Refusal422ContractViolationFingerprintContextMismatchParentNotCompleteArrayMismatch"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500PublicationFailedPublicationUncertainInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
            507: components["responses"]["Refusal507InsufficientStorage"];
        };
    };
    headListSnapshots: {
        parameters: {
            query?: {
                /** @description At most this many; everything where it is left out */
                limit?: number;
                /** @description `next` of the page before, in the same order; in the order of ids any id */
                after?: string;
                /** @description Only snapshots of exactly this source_namespace */
                source_namespace?: string;
                /** @description Only snapshots with this parent */
                parent_id?: string;
                /** @description Only snapshots whose finished_at_ns is not before this time, in epoch nanoseconds */
                since?: string;
                /** @description Only snapshots whose finished_at_ns is not after this time, in epoch nanoseconds */
                until?: string;
                /** @description By id, or the last finished first (finished_at_ns) and then by id */
                order?: "id" | "newest";
                /** @description What is proven of each: every byte, or marker, manifest, inventory and lengths only */
                proof?: "all" | "frame";
                /** @description Whether what cannot be proven fails the listing or is shown in it, with its problem */
                damaged?: "fail" | "show";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of snapshots */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getSnapshot: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The manifest's exact bytes; every byte of the snapshot was proven first. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Manifest"];
                };
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetSnapshot: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The manifest's exact bytes; every byte of the snapshot was proven first. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getManifest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The manifest's exact bytes; every byte of the snapshot was proven first. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Manifest"];
                };
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetManifest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The manifest's exact bytes; every byte of the snapshot was proven first. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getMarker: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The exact bytes of the marker */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain; charset=us-ascii": string;
                };
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetMarker: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The exact bytes of the marker */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getIntent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The exact bytes of the intent */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        snapshot_id: string;
                    };
                };
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetIntent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The exact bytes of the intent */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getPackage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The archive */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-tar": string;
                };
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetPackage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The archive */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404SnapshotNotFoundNotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getArray: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description One range of bytes; several, or other units, are answered with everything (RFC 9110, 14.2) */
                Range?: string;
                /** @description The entity tag of the bytes that the client has; everything is sent if it is another */
                "If-Range"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
                /** @description Key of an array of the snapshot */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every byte */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The range */
            206: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    "Content-Range": components["headers"]["Content-Range"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404SnapshotNotFoundArrayNotFoundNotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            416: components["responses"]["Refusal416RangeNotSatisfiable"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetArray: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
                /** @description Key of an array of the snapshot */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every byte */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "Repr-Digest": components["headers"]["Repr-Digest"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404SnapshotNotFoundArrayNotFoundNotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getArrayAsNpy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description One range of bytes; several, or other units, are answered with everything (RFC 9110, 14.2) */
                Range?: string;
                /** @description The entity tag of the bytes that the client has; everything is sent if it is another */
                "If-Range"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
                /** @description Key of an array of the snapshot */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every byte */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    /**
                     * @description SHA-256 of the whole representation (RFC 9530), also with a range and a HEAD. It is sent whatever Want-Repr-Digest says; only a .npy file has it just where it is asked for.
                     * @example sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:
                     */
                    "Repr-Digest"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/x-npy": string;
                };
            };
            /** @description The range */
            206: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "Content-Range": components["headers"]["Content-Range"];
                    /**
                     * @description SHA-256 of the whole representation (RFC 9530), also with a range and a HEAD. It is sent whatever Want-Repr-Digest says; only a .npy file has it just where it is asked for.
                     * @example sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:
                     */
                    "Repr-Digest"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/x-npy": string;
                };
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404SnapshotNotFoundArrayNotFoundNotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            416: components["responses"]["Refusal416RangeNotSatisfiable"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetArrayAsNpy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
                /** @description SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for sha-256 with 1 to 10, as the file is then hashed beside the array. */
                "Want-Repr-Digest"?: string;
            };
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
                /** @description Key of an array of the snapshot */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every byte */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    /**
                     * @description SHA-256 of the whole representation (RFC 9530), also with a range and a HEAD. It is sent whatever Want-Repr-Digest says; only a .npy file has it just where it is asked for.
                     * @example sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:
                     */
                    "Repr-Digest"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes; given only after the same proof. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Array-Dtype": components["headers"]["Array-Dtype"];
                    "Array-Count": components["headers"]["Array-Count"];
                    "Array-Endianness": components["headers"]["Array-Endianness"];
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404SnapshotNotFoundArrayNotFoundNotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    compareSnapshots: {
        parameters: {
            query?: {
                /** @description Aligns rows by the values of this array, which must be unique on each side; by position without */
                key?: string;
            };
            header?: never;
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
                /** @description 32 lowercase hex digits */
                other: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How they differ */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comparison"];
                };
            };
            400: components["responses"]["Refusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404SnapshotNotFoundArrayNotFoundNotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headCompareSnapshots: {
        parameters: {
            query?: {
                /** @description Aligns rows by the values of this array, which must be unique on each side; by position without */
                key?: string;
            };
            header?: never;
            path: {
                /** @description 32 lowercase hex digits */
                snapshot_id: string;
                /** @description 32 lowercase hex digits */
                other: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How they differ */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequestInvalidSnapshotId"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404SnapshotNotFoundArrayNotFoundNotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityUnsupportedPackageInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    listIncomplete: {
        parameters: {
            query?: {
                /** @description At most this many; everything where it is left out */
                limit?: number;
                /** @description Only names after this one: `next` of the page before */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of attempts */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncompleteListing"];
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500StorageIntegrityInternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headListIncomplete: {
        parameters: {
            query?: {
                /** @description At most this many; everything where it is left out */
                limit?: number;
                /** @description Only names after this one: `next` of the page before */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of attempts */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500StorageIntegrityInternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getContexts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The declarations */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Declarations"];
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetContexts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The declarations */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    isAlive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
        };
    };
    headIsAlive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
        };
    };
    isReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description They can */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headIsReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description They can */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus' text format */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain; version=0.0.4; charset=utf-8": string;
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus' text format */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getRoot: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page, or the index */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    /**
                     * @description A strong entity tag made of the SHA-256 of the bytes (of a package.tar, a .npy file and what is compressed: of what they are made of). It never changes for a published snapshot.
                     * @example "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
                     */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html; charset=utf-8": string;
                    "application/json": components["schemas"]["ServiceIndex"];
                };
            };
            /** @description The client has these very bytes. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404NotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetRoot: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page, or the index */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    /**
                     * @description A strong entity tag made of the SHA-256 of the bytes (of a package.tar, a .npy file and what is compressed: of what they are made of). It never changes for a published snapshot.
                     * @example "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
                     */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404NotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getPageFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
            };
            path: {
                /** @description A file of the page */
                page_file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, under the media type of its kind */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The client has these very bytes. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404NotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            412: components["responses"]["Refusal412PreconditionFailed"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetPageFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`; 412 unless the stored one is among them */
                "If-Match"?: string;
                /** @description Entity tags that the client has; 304, after the same proof, if the stored one is among them */
                "If-None-Match"?: string;
            };
            path: {
                /** @description A file of the page */
                page_file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, under the media type of its kind */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has these very bytes. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404NotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            412: components["responses"]["HeadRefusal412PreconditionFailed"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                        info: Record<string, never>;
                        paths: Record<string, never>;
                    };
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html; charset=utf-8": string;
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getDocsDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json; charset=utf-8": {
                        openapi: string;
                        info: Record<string, never>;
                        paths: Record<string, never>;
                    };
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetDocsDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getDocsYaml: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-yaml": string;
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetDocsYaml: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getDocsAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description The Last-Modified of the file that the client has */
                "If-Modified-Since"?: string;
            };
            path: {
                /** @description A file of the page /docs */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, under the media type of its kind */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    "Last-Modified": components["headers"]["Last-Modified"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The client has the file. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Last-Modified": components["headers"]["Last-Modified"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404NotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetDocsAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description The Last-Modified of the file that the client has */
                "If-Modified-Since"?: string;
            };
            path: {
                /** @description A file of the page /docs */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, under the media type of its kind */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    "Last-Modified": components["headers"]["Last-Modified"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The client has the file. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Last-Modified": components["headers"]["Last-Modified"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404NotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    listProblems: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html; charset=utf-8": string;
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headListProblems: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
    getProblem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The code of a problem document */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html; charset=utf-8": string;
                };
            };
            400: components["responses"]["Refusal400InvalidRequest"];
            401: components["responses"]["Refusal401Unauthorized"];
            403: components["responses"]["Refusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["Refusal404NotFound"];
            408: components["responses"]["Refusal408UploadStalled"];
            413: components["responses"]["Refusal413LimitExceeded"];
            417: components["responses"]["Refusal417ExpectationFailed"];
            431: components["responses"]["Refusal431LimitExceeded"];
            500: components["responses"]["Refusal500InternalError"];
            503: components["responses"]["Refusal503Unavailable"];
        };
    };
    headGetProblem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The code of a problem document */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Frame-Options": components["headers"]["X-Frame-Options"];
                    "Referrer-Policy": components["headers"]["Referrer-Policy"];
                    "Cross-Origin-Resource-Policy": components["headers"]["Cross-Origin-Resource-Policy"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Length": components["headers"]["Content-Length"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadRefusal400InvalidRequest"];
            401: components["responses"]["HeadRefusal401Unauthorized"];
            403: components["responses"]["HeadRefusal403ForbiddenHostForbiddenOrigin"];
            404: components["responses"]["HeadRefusal404NotFound"];
            408: components["responses"]["HeadRefusal408UploadStalled"];
            413: components["responses"]["HeadRefusal413LimitExceeded"];
            417: components["responses"]["HeadRefusal417ExpectationFailed"];
            431: components["responses"]["HeadRefusal431LimitExceeded"];
            500: components["responses"]["HeadRefusal500InternalError"];
            503: components["responses"]["HeadRefusal503Unavailable"];
        };
    };
}
