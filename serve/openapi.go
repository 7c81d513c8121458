package serve

import (
	"encoding"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"pawl/core/ledger"
	"pawl/internal/build"
	"pawl/report"
)

// operation describes a route to programs. takes are its parameters, body a value of the type that
// it reads, returns one of the type that it answers with.
type operation struct {
	does          string
	takes         []parameter
	body, returns any
	// status of a success; 0 is 200.
	status int
}

type parameter struct {
	name, kind string
	required   bool
	about      string
}

type object = map[string]any

// describeAPI writes the OpenAPI document of the routes.
func (s *Server) describeAPI() object {
	paths := object{}
	failed := object{"description": "Why the request failed. 400: a mistake in the request; 401: no session; 403: another role; 404: unknown; 409: refused by the ledger.",
		"content": object{"application/json": object{"schema": schemaOf(reflect.TypeFor[apiError]())}}}
	for _, at := range s.routes {
		for _, r := range at {
			if r.doc == nil {
				continue
			}
			status := r.doc.status
			if status == 0 {
				status = http.StatusOK
			}
			parameters := []any{}
			for _, p := range r.doc.takes {
				where := "query"
				if p.name == idempotency {
					where = "header"
				}
				parameters = append(parameters, object{"name": p.name, "in": where, "required": p.required, "description": p.about, "schema": object{"type": p.kind}})
			}
			op := object{"summary": r.doc.does, "operationId": strings.ToLower(r.method) + strings.NewReplacer("/", "_", ".", "_").Replace(strings.TrimPrefix(r.path, "/api/"+apiVersion)), "parameters": parameters,
				"responses": object{strconv.Itoa(status): object{"description": "Done.", "content": object{"application/json": object{"schema": schemaOf(reflect.TypeOf(r.doc.returns))}}}, "default": failed}}
			if r.doc.body != nil {
				op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": schemaOf(reflect.TypeOf(r.doc.body))}}}
			}
			path, _ := paths[r.path].(object)
			if path == nil {
				path = object{}
				paths[r.path] = path
			}
			path[strings.ToLower(r.method)] = op
		}
	}
	return object{"openapi": "3.0.3",
		"info":     object{"title": "pawl serve", "version": build.Version(), "description": "Budgets, plans, jobs and reports: the JSON of the command line. A program opens a link of pawl serve once, stores the cookie, and sends it with each request."},
		"paths":    paths,
		"security": []any{object{"session": []any{}}},
		"components": object{"securitySchemes": object{"session": object{"type": "apiKey", "in": "cookie", "name": s.cookie(),
			"description": "GET the link that pawl serve printed; it works once."}}}}
}

// idempotency is the header that names a job.
const idempotency = "Idempotency-Key"

// schemaOf is the JSON schema of what encoding/json makes of a type. Types that write themselves
// are texts or listed here.
func schemaOf(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[ledger.Number](), reflect.TypeFor[report.Number]():
		return object{"description": "a number, or \"inf\", or null where there is none", "nullable": true, "oneOf": []any{object{"type": "number"}, object{"type": "string", "enum": []any{"inf", "-inf"}}}}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	}
	if t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := schemaOf(t.Elem())
		s["nullable"] = true
		return s
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint64, reflect.Uint8:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "nullable": t.Kind() == reflect.Slice, "items": schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "nullable": true, "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		properties, required := object{}, []any{}
		fields(t, properties, &required)
		s := object{"type": "object", "properties": properties}
		if len(required) > 0 {
			s["required"] = required
		}
		return s
	}
	return object{} // any
}

func fields(t reflect.Type, properties object, required *[]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		of := f.Type
		if f.Anonymous && name == "" {
			if of.Kind() == reflect.Pointer {
				none := []any{} // its fields are there only where it is
				fields(of.Elem(), properties, &none)
			} else {
				fields(of, properties, required)
			}
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		properties[name] = schemaOf(of)
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}
