package PACKAGE

// Makes the calls of zzRegreenCalls one after the other and appends a line of JSON for each to the file
// that REGREEN_RECORDS names; only those whose numbers are in REGREEN_CALLS. A call that does not end in
// time ends the process.

import (
	zzjson "encoding/json"
	zzerrors "errors"
	zzfmt "fmt"
	zzbig "math/big"
	zzos "os"
	zzreflect "reflect"
	zzregexp "regexp"
	zzruntime "runtime"
	zzsort "sort"
	zzstrconv "strconv"
	zzstrings "strings"
	zztesting "testing"
	zztime "time"
	zzunicode "unicode"
	zzutf8 "unicode/utf8"
)

type zzRegreenNumbered struct {
	index int
	make  func(*zzRegreenCall)
}

type zzRegreenCall struct {
	given  []zzRegreenGiven
	record map[string]interface{}
	needs  map[string]bool
}

// An error that a variable of the package holds.
type zzRegreenError struct {
	name  string
	value error
}

// An argument that the call may modify.
type zzRegreenGiven struct {
	index  int
	value  interface{}
	before string
}

func (call *zzRegreenCall) gives(index int, value interface{}) {
	before, ok := call.literal(value)
	if ok {
		call.given = append(call.given, zzRegreenGiven{index, value, before})
	}
}

// What a call returned whose last result is an error.
func (call *zzRegreenCall) returnsError(values ...interface{}) {
	last := len(values) - 1
	if failure, ok := values[last].(error); ok {
		call.record["raised"] = zzRegreenErrorName(failure)
		call.record["message"] = zzRegreenOwnText(failure)
		call.record["explicit"] = true
		return
	}
	if last == 0 {
		values = append(values, nil)
	}
	call.returns(values[:len(values)-1]...)
}

// The variable of the package that holds an error, or that it wraps.
func zzRegreenErrorName(failure error) string {
	for _, one := range zzRegreenErrors {
		if zzerrors.Is(failure, one.value) {
			return one.name
		}
	}
	return "error"
}

// The text of an error that the package writes itself; none of one that has its text from elsewhere.
func zzRegreenOwnText(failure error) string {
	kind := zzreflect.TypeOf(failure)
	if kind.Kind() == zzreflect.Ptr {
		kind = kind.Elem()
	}
	isOwn := kind.PkgPath() == zzreflect.TypeOf(zzRegreenCall{}).PkgPath() && zzerrors.Unwrap(failure) == nil
	for _, format := range zzRegreenTexts {
		isOwn = isOwn || zzregexp.MustCompile(format).MatchString(failure.Error())
	}
	if isOwn {
		return failure.Error()
	}
	return ""
}

func (call *zzRegreenCall) returns(values ...interface{}) {
	if len(values) == 0 {
		call.record["value"] = ""
		call.record["way"] = "none"
		return
	}
	texts := make([]string, len(values))
	for index, value := range values {
		text, ok := call.literal(value)
		if !ok {
			shown, isShown := value.(zzfmt.Stringer)
			if !isShown || len(values) > 1 {
				call.record["refused"] = "its result cannot be written as a literal"
				return
			}
			text = zzstrconv.Quote(shown.String())
			call.record["way"] = "text"
		}
		texts[index] = text
	}
	call.record["value"] = zzstrings.Join(texts, "\x1f")
}

func (call *zzRegreenCall) finish() {
	after := [][]interface{}{}
	for _, one := range call.given {
		text, ok := call.literal(one.value)
		if ok && text != one.before {
			after = append(after, []interface{}{one.index, text})
		}
	}
	if len(after) > 0 && call.record["way"] == "none" {
		call.record["way"] = "plain"
	}
	needs := []string{}
	for path := range call.needs {
		needs = append(needs, path)
	}
	zzsort.Strings(needs)
	call.record["after"] = after
	call.record["needs"] = needs
}

func (call *zzRegreenCall) literal(value interface{}) (string, bool) {
	writer := &zzRegreenWriter{needs: call.needs}
	ok := writer.write(zzreflect.ValueOf(value), zzRegreenAlone, 0)
	return writer.text.String(), ok && writer.text.Len() <= 1000
}

// What the place of a literal says about its type: nothing, all, or so much that it may be left out.
const (
	zzRegreenAlone = iota
	zzRegreenTyped
	zzRegreenElement
)

type zzRegreenWriter struct {
	text  zzstrings.Builder
	needs map[string]bool
}

func (writer *zzRegreenWriter) put(parts ...string) bool {
	for _, part := range parts {
		writer.text.WriteString(part)
	}
	return true
}

func (writer *zzRegreenWriter) special(value zzreflect.Value) (string, bool) {
	if !value.CanInterface() {
		return "", false
	}
	switch known := value.Interface().(type) {
	case zztime.Duration:
		writer.needs["time"] = true
		for _, unit := range []struct {
			size zztime.Duration
			name string
		}{{zztime.Hour, "Hour"}, {zztime.Minute, "Minute"}, {zztime.Second, "Second"}, {zztime.Millisecond, "Millisecond"}} {
			if known != 0 && known%unit.size == 0 {
				return zzfmt.Sprintf("%d * time.%s", known/unit.size, unit.name), true
			}
		}
		return zzfmt.Sprintf("time.Duration(%d)", int64(known)), true
	case zztime.Time:
		writer.needs["time"] = true
		if known == (zztime.Time{}) {
			return "time.Time{}", true
		}
		if known.Location() != zztime.UTC {
			return "", false
		}
		return zzfmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, %d, time.UTC)", known.Year(), known.Month(),
			known.Day(), known.Hour(), known.Minute(), known.Second(), known.Nanosecond()), true
	case *zzbig.Int:
		if known != nil && known.IsInt64() {
			writer.needs["math/big"] = true
			return zzfmt.Sprintf("big.NewInt(%d)", known.Int64()), true
		}
	}
	return "", false
}

func (writer *zzRegreenWriter) write(value zzreflect.Value, place, depth int) bool {
	if !value.IsValid() {
		return writer.put("nil")
	}
	if depth > 8 || writer.text.Len() > 2000 {
		return false
	}
	if text, ok := writer.special(value); ok {
		return writer.put(text)
	}
	own := value.Type()
	switch own.Kind() {
	case zzreflect.Bool:
		return writer.basic(own, zzstrconv.FormatBool(value.Bool()), "bool", place)
	case zzreflect.Int, zzreflect.Int8, zzreflect.Int16, zzreflect.Int32, zzreflect.Int64:
		return writer.basic(own, zzstrconv.FormatInt(value.Int(), 10), "int", place)
	case zzreflect.Uint, zzreflect.Uint8, zzreflect.Uint16, zzreflect.Uint32, zzreflect.Uint64, zzreflect.Uintptr:
		return writer.basic(own, zzstrconv.FormatUint(value.Uint(), 10), "", place)
	case zzreflect.Float32, zzreflect.Float64:
		return writer.float(value, place)
	case zzreflect.String:
		return writer.basic(own, zzstrconv.Quote(value.String()), "string", place)
	case zzreflect.Slice, zzreflect.Array, zzreflect.Map:
		return writer.collection(value, place, depth)
	case zzreflect.Ptr:
		if value.IsNil() {
			return writer.none(own, place)
		}
		if value.Elem().Kind() != zzreflect.Struct {
			return false
		}
		if place != zzRegreenElement {
			writer.put("&")
		}
		return writer.fields(value.Elem(), place, depth)
	case zzreflect.Struct:
		return writer.fields(value, place, depth)
	case zzreflect.Interface:
		if value.IsNil() {
			return writer.put("nil")
		}
		return writer.write(value.Elem(), zzRegreenAlone, depth+1)
	case zzreflect.Func, zzreflect.Chan:
		return value.IsNil() && writer.put("nil")
	}
	return false
}

func (writer *zzRegreenWriter) basic(own zzreflect.Type, text, usual string, place int) bool {
	if place != zzRegreenAlone || own.String() == usual {
		return writer.put(text)
	}
	name, ok := writer.name(own)
	return ok && writer.put(name, "(", text, ")")
}

func (writer *zzRegreenWriter) float(value zzreflect.Value, place int) bool {
	number := value.Float()
	text := zzstrconv.FormatFloat(number, 'g', -1, value.Type().Bits())
	if number != number {
		return false
	}
	if number-number != 0 {
		writer.needs["math"] = true
		sign := "1"
		if number < 0 {
			sign = "-1"
		}
		return writer.basic(value.Type(), "math.Inf("+sign+")", "float64", place)
	}
	usual := "float64"
	if !zzstrings.ContainsAny(text, ".e") {
		usual = ""
	}
	return writer.basic(value.Type(), text, usual, place)
}

func (writer *zzRegreenWriter) none(own zzreflect.Type, place int) bool {
	if place != zzRegreenAlone {
		return writer.put("nil")
	}
	name, ok := writer.name(own)
	return ok && writer.put("(", name, ")(nil)")
}

func (writer *zzRegreenWriter) collection(value zzreflect.Value, place, depth int) bool {
	own := value.Type()
	if own.Kind() != zzreflect.Array && value.IsNil() {
		return writer.none(own, place)
	}
	name, ok := writer.name(own)
	if !ok {
		return false
	}
	if own.Kind() == zzreflect.Slice && own.Elem().Kind() == zzreflect.Uint8 {
		if text := string(value.Bytes()); zzutf8.ValidString(text) && zzstrings.IndexFunc(text, zzRegreenHidden) < 0 {
			return writer.put(name, "(", zzstrconv.Quote(text), ")")
		}
	}
	if place != zzRegreenElement {
		writer.put(name)
	}
	writer.put("{")
	if own.Kind() == zzreflect.Map {
		if !writer.entries(value, depth) {
			return false
		}
		return writer.put("}")
	}
	for index := 0; index < value.Len(); index++ {
		if index > 0 {
			writer.put(", ")
		}
		if !writer.write(value.Index(index), zzRegreenElement, depth+1) {
			return false
		}
	}
	return writer.put("}")
}

func zzRegreenHidden(letter rune) bool {
	return !zzunicode.IsPrint(letter) && letter != '\n' && letter != '\t'
}

func (writer *zzRegreenWriter) entries(value zzreflect.Value, depth int) bool {
	texts := []string{}
	for _, key := range value.MapKeys() {
		entry := &zzRegreenWriter{needs: writer.needs}
		ok := entry.write(key, zzRegreenElement, depth+1) && entry.put(": ") &&
			entry.write(value.MapIndex(key), zzRegreenElement, depth+1)
		if !ok {
			return false
		}
		texts = append(texts, entry.text.String())
	}
	zzsort.Strings(texts)
	return writer.put(zzstrings.Join(texts, ", "))
}

func (writer *zzRegreenWriter) fields(value zzreflect.Value, place, depth int) bool {
	own := value.Type()
	if place != zzRegreenElement {
		name, ok := writer.name(own)
		if !ok {
			return false
		}
		writer.put(name)
	}
	writer.put("{")
	first := true
	for index := 0; index < own.NumField(); index++ {
		field := own.Field(index)
		if zzRegreenIsZero(value.Field(index)) {
			continue
		}
		if field.PkgPath != "" && field.PkgPath != zzRegreenOwn {
			return false
		}
		if !first {
			writer.put(", ")
		}
		first = false
		writer.put(field.Name, ": ")
		if !writer.write(value.Field(index), zzRegreenTyped, depth+1) {
			return false
		}
	}
	return writer.put("}")
}

func zzRegreenIsZero(value zzreflect.Value) bool {
	switch value.Kind() {
	case zzreflect.Slice, zzreflect.Map, zzreflect.Ptr, zzreflect.Interface, zzreflect.Func, zzreflect.Chan:
		return value.IsNil()
	}
	return value.IsZero()
}

var zzRegreenOwn = zzreflect.TypeOf(zzRegreenCall{}).PkgPath()

// The name of a type in a test of the package.
func (writer *zzRegreenWriter) name(own zzreflect.Type) (string, bool) {
	if own.Name() != "" {
		if zzstrings.ContainsAny(own.Name(), "[·") {
			return "", false
		}
		if own.PkgPath() == "" || own.PkgPath() == zzRegreenOwn {
			return own.Name(), true
		}
		writer.needs[own.PkgPath()] = true
		return own.String(), zzunicode.IsUpper([]rune(own.Name())[0]) && !zzstrings.Contains(own.PkgPath(), "internal/")
	}
	prefix := ""
	switch own.Kind() {
	case zzreflect.Ptr:
		prefix = "*"
	case zzreflect.Slice:
		prefix = "[]"
	case zzreflect.Array:
		prefix = "[" + zzstrconv.Itoa(own.Len()) + "]"
	case zzreflect.Map:
		key, ok := writer.name(own.Key())
		if !ok {
			return "", false
		}
		prefix = "map[" + key + "]"
	case zzreflect.Interface:
		return "interface{}", own.NumMethod() == 0
	default:
		return "", false
	}
	name, ok := writer.name(own.Elem())
	return prefix + name, ok
}

func (numbered zzRegreenNumbered) observe() (call *zzRegreenCall) {
	call = &zzRegreenCall{record: map[string]interface{}{}, needs: map[string]bool{}}
	defer func() {
		if thrown := recover(); thrown != nil {
			failure, isError := thrown.(error)
			var accident zzruntime.Error
			call.record = map[string]interface{}{
				"raised":   "panic",
				"message":  zzfmt.Sprint(thrown),
				"explicit": !isError || !zzerrors.As(failure, &accident),
			}
		}
	}()
	numbered.make(call)
	call.finish()
	return call
}

func TestZzRegreenObserve(t *zztesting.T) {
	chosen := "," + zzos.Getenv("REGREEN_CALLS") + ","
	limit, _ := zztime.ParseDuration(zzos.Getenv("REGREEN_LIMIT"))
	file, err := zzos.OpenFile(zzos.Getenv("REGREEN_RECORDS"), zzos.O_APPEND|zzos.O_WRONLY|zzos.O_CREATE, 0600)
	if err != nil {
		t.Fatal(err)
	}
	for _, numbered := range zzRegreenCalls {
		if !zzstrings.Contains(chosen, ","+zzstrconv.Itoa(numbered.index)+",") {
			continue
		}
		for index := range zzRegreenCover.Count {
			zzRegreenCover.Count[index] = 0
		}
		done := make(chan *zzRegreenCall, 1)
		go func(numbered zzRegreenNumbered) { done <- numbered.observe() }(numbered)
		record, isLate := map[string]interface{}{}, false
		select {
		case call := <-done:
			record = call.record
		case <-zztime.After(limit):
			record["refused"], isLate = "takes longer than "+zzstrconv.FormatFloat(limit.Seconds(), 'g', -1, 64)+" s", true
		}
		record["index"] = numbered.index
		record["lines"], record["marks"] = zzRegreenRan()
		line, err := zzjson.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(line, '\n'))
		if isLate {
			zzos.Exit(3)
		}
	}
}

// The lines that ran, and how often each block did, roughly.
func zzRegreenRan() ([]uint32, []string) {
	lines, marks := []uint32{}, []string{}
	seen := map[uint32]bool{}
	for index, count := range zzRegreenCover.Count {
		if count == 0 {
			continue
		}
		often := "1"
		if count > 3 {
			often = "n"
		} else if count > 1 {
			often = "2"
		}
		marks = append(marks, zzfmt.Sprint(index, "x", often))
		for line := zzRegreenCover.Pos[3*index]; line <= zzRegreenCover.Pos[3*index+1]; line++ {
			if !seen[line] {
				seen[line] = true
				lines = append(lines, line)
			}
		}
	}
	zzsort.Slice(lines, func(i, j int) bool { return lines[i] < lines[j] })
	return lines, marks
}
