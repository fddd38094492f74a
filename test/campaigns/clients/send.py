"""Posts a file as the whole body of a request with urllib or requests; prints the status and the problem's code."""

import json
import sys

library, url, path, content_type, more = sys.argv[1:6]
headers = {"Content-Type": content_type}
if more != "":
    headers.update([more.split(": ", 1)])
with open(path, "rb") as body:
    if library == "requests":
        import requests

        answer = requests.post(url, data=body, headers=headers, timeout=60)
        status, text = answer.status_code, answer.text
    else:
        import os
        import urllib.error
        import urllib.request

        headers["Content-Length"] = str(os.path.getsize(path))
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers), timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
print(status, json.loads(text)["code"])
