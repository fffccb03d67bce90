import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import { Column, type DriverValueDecoder, is, noopDecoder, Param, Placeholder, type Query, SQL } from "drizzle-orm";
import {
  BaseSQLiteDatabase,
  type SelectedFieldsOrdered,
  type SQLiteExecuteMethod,
  SQLitePreparedQuery,
  SQLiteSession,
  SQLiteSyncDialect,
} from "drizzle-orm/sqlite-core";

/** Builds the statements; transactions belong to the writer. */
export type Orm = BaseSQLiteDatabase<"sync", void>;

type Given = Record<string, unknown>;
/** Called when a statement is prepared, and whenever one runs. */
type Observer = { onPrepared?(text: string): void; onRun?(text: string, parameters: unknown[]): void };
type Encode = (given: Given) => SQLQueryBindings;
type Decode = (value: unknown) => unknown;
type Decoder = DriverValueDecoder<unknown, unknown>;
/** The target of one column: a field of the row, or of an object within the row, and its decoder, if it needs one. */
type Read = { within: string | undefined; name: string; decode: Decode | undefined };
type Config = { type: "sync"; run: unknown; all: unknown; get: unknown; values: unknown; execute: unknown };

/**
 * Drizzle on `bun:sqlite`, with our own driver. Drizzle's driver inspects the declaration of every parameter and column
 * again on each run, which takes as long as SQLite itself; ours does that once. SQLite compiles a statement when it
 * first runs.
 */
export function createOrm(sqlite: Database, observer: Observer = {}): Orm {
  const dialect = new SQLiteSyncDialect();
  return new BaseSQLiteDatabase("sync", dialect, new BunSession(sqlite, dialect, observer), undefined);
}

class BunSession extends SQLiteSession<"sync", void, Record<string, unknown>, Record<string, never>> {
  readonly #sqlite: Database;
  readonly #observer: Observer;

  constructor(sqlite: Database, dialect: SQLiteSyncDialect, observer: Observer) {
    super(dialect);
    this.#sqlite = sqlite;
    this.#observer = observer;
  }

  override prepareQuery(query: Query, fields: SelectedFieldsOrdered | undefined, method: SQLiteExecuteMethod) {
    return new PreparedStatement(this.#sqlite, query, fields, method, this.#observer);
  }

  override transaction(): never {
    throw new Error("transactions are the writer's");
  }
}

class PreparedStatement extends SQLitePreparedQuery<Config> {
  readonly #sqlite: Database;
  readonly #encoders: Encode[];
  readonly #reads: Read[];
  readonly #observer: Observer;
  #statement: Statement<unknown, SQLQueryBindings[]> | undefined;

  constructor(
    sqlite: Database,
    query: Query,
    fields: SelectedFieldsOrdered | undefined,
    method: SQLiteExecuteMethod,
    observer: Observer,
  ) {
    super("sync", method, query);
    this.#sqlite = sqlite;
    this.#encoders = query.params.map(encoderOf);
    this.#reads = (fields ?? []).map(readOf);
    this.#observer = observer;
    observer.onPrepared?.(query.sql);
  }

  override run(given: Given = {}): unknown {
    return this.#compiled().run(...this.#parameters(given));
  }

  override all(given: Given = {}): Given[] {
    return this.values(given).map((row) => this.#read(row));
  }

  override get(given: Given = {}): Given | undefined {
    const [row] = this.values(given);
    return row && this.#read(row);
  }

  override values(given: Given = {}): unknown[][] {
    return this.#compiled().values(...this.#parameters(given));
  }

  #compiled() {
    this.#statement ??= this.#sqlite.prepare(this.query.sql);
    return this.#statement;
  }

  #parameters(given: Given): SQLQueryBindings[] {
    const parameters = this.#encoders.map((encode) => encode(given));
    this.#observer.onRun?.(this.query.sql, parameters);
    return parameters;
  }

  #read(row: unknown[]): Given {
    const found: Given = {};
    let at = 0;
    for (const { within, name, decode } of this.#reads) {
      const value = row[at++];
      const read = decode && value !== null ? decode(value) : value;
      if (within === undefined) found[name] = read;
      else found[within] = Object.assign(found[within] ?? {}, { [name]: read });
    }
    return found;
  }
}

/** Returns the encoder of a parameter: a placeholder's value, encoded by its column if it has one, or a constant. */
function encoderOf(parameter: unknown): Encode {
  if (is(parameter, Placeholder)) return givenAt(parameter.name);
  if (is(parameter, Param) && is(parameter.value, Placeholder)) {
    const value = givenAt(parameter.value.name);
    const { encoder } = parameter;
    if (encoder.mapToDriverValue === Column.prototype.mapToDriverValue) return value;
    return (given) => encoder.mapToDriverValue(value(given)) as SQLQueryBindings;
  }
  return () => parameter as SQLQueryBindings;
}

function givenAt(name: string): Encode {
  return (given) => {
    if (!(name in given)) throw new Error(`no value is given for "${name}"`);
    return given[name] as SQLQueryBindings;
  };
}

function readOf({ path, field }: SelectedFieldsOrdered[number]): Read {
  const [name = "", within] = path.toReversed();
  const { mapFromDriverValue } = decoderOf(field);
  const isPlain = PLAIN.includes(mapFromDriverValue);
  return { within, name, decode: isPlain ? undefined : (value) => decoderOf(field).mapFromDriverValue(value) };
}

/** Decoders that return their value unchanged. */
const PLAIN: unknown[] = [Column.prototype.mapFromDriverValue, noopDecoder.mapFromDriverValue];

function decoderOf(field: SelectedFieldsOrdered[number]["field"]): Decoder {
  if (is(field, Column)) return field;
  const expression = is(field, SQL.Aliased) ? field.sql : field;
  if (!is(expression, SQL)) throw new Error("a subquery is no value of a row");
  // Drizzle doesn't expose `decoder` in its public types.
  return (expression as SQL & { decoder: Decoder }).decoder;
}
