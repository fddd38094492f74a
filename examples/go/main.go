// Publishes the columns of examples/npm-packages with Go's standard library and reads them back, proven.
// From the project's top folder:
//
//	go run examples/go/main.go [-id <32 hex digits>] [http://127.0.0.1:8750]
//
// The address may also be given as SNAPSHOTS_URL. With -id the same columns become another snapshot.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

const columns = "examples/npm-packages"

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func read(name string) []byte { return must(os.ReadFile(filepath.Join(columns, name))) }

func digestOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func answerOf(answer *http.Response, err error) (int, []byte) {
	defer must(answer, err).Body.Close()
	return answer.StatusCode, must(io.ReadAll(answer.Body))
}

// upload streams metadata first, then one part per array, named by its file; nothing is held in memory.
func upload(url string, metadata []byte) (int, []byte) {
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	go func() {
		// Once the service has refused, nobody reads the rest: what fails here shows in its answer.
		part, _ := form.CreateFormFile("metadata", "metadata.json")
		part.Write(metadata)
		for _, path := range must(filepath.Glob(filepath.Join(columns, "array-*.bin"))) {
			file := must(os.Open(path))
			part, _ = form.CreateFormFile(filepath.Base(path), filepath.Base(path))
			_, err := io.Copy(part, file)
			file.Close()
			if err != nil {
				writer.CloseWithError(err)
				return
			}
		}
		writer.CloseWithError(form.Close())
	}()
	return answerOf(http.Post(url, form.FormDataContentType(), reader))
}

func main() {
	log.SetFlags(0)
	id := flag.String("id", "", "another snapshot_id, 32 lowercase hex digits")
	flag.Parse()
	url := "http://127.0.0.1:8750"
	for _, given := range []string{os.Getenv("SNAPSHOTS_URL"), flag.Arg(0)} {
		if given != "" {
			url = given
		}
	}
	url = strings.TrimSuffix(url, "/") + "/snapshots"

	metadata, expected := read("metadata.json"), read("expected-manifest.json")
	var manifest struct {
		Snapshot struct {
			ID string `json:"snapshot_id"`
		}
		Arrays map[string]struct{ File, SHA256 string }
	}
	must(0, json.Unmarshal(expected, &manifest))
	if original := manifest.Snapshot.ID; *id == "" {
		*id = original
	} else {
		metadata = bytes.ReplaceAll(metadata, []byte(original), []byte(*id))
		expected = bytes.ReplaceAll(expected, []byte(original), []byte(*id))
	}

	status, body := upload(url, metadata)
	var problem struct {
		SHA256 string `json:"manifest_sha256"`
	}
	result := "published"
	if status == 409 && json.Unmarshal(body, &problem) == nil && problem.SHA256 == digestOf(expected) {
		result = "exists already, the same one"
	} else if status != 201 || !bytes.Equal(body, expected) {
		log.Fatalf("not published (%d): %s", status, body)
	}

	if _, stored := answerOf(http.Get(url + "/" + *id)); !bytes.Equal(stored, expected) {
		log.Fatalf("the stored manifest is not the expected one: %s", stored)
	}
	for _, array := range manifest.Arrays {
		_, stored := answerOf(http.Get(url + "/" + *id + "/" + array.File))
		if digestOf(stored) != array.SHA256 {
			log.Fatalf("%s: another SHA-256 than the manifest's", array.File)
		}
		if !bytes.Equal(stored, read(array.File)) {
			log.Fatalf("%s came back changed", array.File)
		}
	}
	fmt.Printf("%s: %s, %d arrays read back and proven, manifest_sha256 %s\n",
		result, *id, len(manifest.Arrays), digestOf(expected))
}
