/** Sends a publication and tells how far it is: what `fetch` cannot tell, an XMLHttpRequest can. */
import type { Manifest } from './answers.ts';
import { addressOf, authorization, problemIn, Refusal } from './service.ts';
import type { DraftPart } from './draft.ts';

export interface Upload {
  readonly done: Promise<Manifest>;
  readonly cancel: () => void;
}

/** `onProgress` gets bytes sent and bytes in all, of the whole request. Rejects with a `Refusal`. */
export function upload(
  document: object,
  parts: readonly DraftPart[],
  onProgress: (sent: number, total: number) => void,
): Upload {
  const form = new FormData();
  form.append(
    'metadata',
    new Blob([JSON.stringify(document)], { type: 'application/json' }),
    'metadata.json',
  );
  for (const { key, file, isNpy } of parts) {
    const type = isNpy ? 'application/x-npy' : 'application/octet-stream';
    const name = `array-${key}.${isNpy ? 'npy' : 'bin'}`;
    // The bytes stay where they are until the browser sends them.
    form.append(name, new Blob([file], { type }), name);
  }
  const request = new XMLHttpRequest();
  const done = new Promise<Manifest>((resolve, reject) => {
    const lost = (detail: string) => () => {
      reject(new Refusal(0, { title: 'The answer is missing', detail }));
    };
    request.upload.onprogress = ({ loaded, total }) => {
      onProgress(loaded, total);
    };
    request.onload = () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as Manifest);
      else reject(new Refusal(request.status, problemIn(request.responseText)));
    };
    request.onabort = lost(
      'It was cancelled. Whether the snapshot was published before that, its address tells.',
    );
    request.onerror = lost(
      'The connection broke. Open the snapshot to see whether it was published, before you send it again.',
    );
  });
  request.open('POST', addressOf('snapshots'));
  for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
  request.send(form);
  return {
    done,
    cancel: () => {
      request.abort();
    },
  };
}
