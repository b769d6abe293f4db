/**
 * The API document as a judge: which requests fit it, which statuses it documents, and whether an answer has the shape it
 * promises. It reads the published document only and knows nothing of the server's own declarations.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from './schema-values.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema: JsonSchema
}

export interface Operation {
  readonly id: string
  readonly method: string
  /** With `{name}` in place of each parameter. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: JsonSchema | undefined
  /** The body is bytes, not JSON. */
  readonly bytes: boolean
  readonly open: boolean
  /** Starts long work: asked for more rarely. */
  readonly heavy: boolean
  readonly media_type: string
  readonly statuses: ReadonlySet<number>
}

interface Media {
  readonly schema?: JsonSchema
}
interface DocumentedResponse {
  readonly content?: Readonly<Record<string, Media>>
}
/** Responses of problems are shared by operations. */
type ResponseReference = DocumentedResponse & { readonly $ref?: string }
interface OpenApiOperation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, ResponseReference>>
  readonly security: readonly object[]
  readonly 'x-starts'?: string
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, DocumentedResponse>>
  }
}

const SHARED = '/shared/'

/** With references to components as schemas of their own: each is compiled once, not once for every schema that uses it. */
export const withSharedReferences = <T extends object>(schema: T): T =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', `"${SHARED}`))

/** Makes the components known to the validator under the names that `withSharedReferences` uses. */
export function addComponents(ajv: Ajv2020, components: Readonly<Record<string, object>>): void {
  for (const [name, schema] of Object.entries(components)) ajv.addSchema(withSharedReferences(schema), SHARED + name)
}

export class ApiContract {
  readonly operations: readonly Operation[]
  readonly components: Readonly<Record<string, JsonSchema>>
  readonly #document: Document
  // The document is checked by a suite of its own, not again with every schema of it.
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    ownProperties: true,
    unicodeRegExp: true,
    validateSchema: false,
    code: { optimize: false },
  })
  readonly #compiled = new Map<unknown, ValidateFunction>()

  constructor(document: object) {
    this.#document = document as Document
    this.components = this.#document.components.schemas
    addFormats.default(this.#ajv)
    addComponents(this.#ajv, this.components)
    this.operations = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => toOperation(path, method.toUpperCase(), described)),
    )
  }

  fits(schema: JsonSchema, value: unknown): boolean {
    return this.#check(schema)(value)
  }

  /** What an answer breaks, or null: a status nobody documented, a media type, a body of another shape. */
  faultOf(operation: Operation, status: number, mediaType: string, text: string): string | null {
    const documented = this.#findResponse(operation, status)
    if (!documented) return `status ${status} is not documented`
    const { content } = documented
    if (!content) return text === '' ? null : `status ${status} is documented without a body`
    const name = Object.keys(content).find((one) => mediaType.split(';')[0] === one.split(';')[0])
    if (name === undefined) return `status ${status} came as ${mediaType || 'nothing'}`
    if (!/^application\/(problem\+)?json\b/.test(name)) return null
    const check = this.#check(content[name]?.schema ?? {})
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return `status ${status} came with a body that is no JSON`
    }
    return check(value) ? null : `status ${status}: ${this.#ajv.errorsText(check.errors)}`
  }

  #findResponse(operation: Operation, status: number): DocumentedResponse | undefined {
    const found = this.#document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses[status]
    const name = found?.$ref?.split('/').at(-1)
    return name === undefined ? found : this.#document.components.responses[name]
  }

  #check(schema: JsonSchema): ValidateFunction {
    let check = this.#compiled.get(schema)
    if (!check) {
      check = this.#ajv.compile({ allOf: [withSharedReferences(schema)] })
      this.#compiled.set(schema, check)
    }
    return check
  }
}

function toOperation(path: string, method: string, described: OpenApiOperation): Operation {
  const content = described.requestBody?.content ?? {}
  const good = Object.entries(described.responses).find(([status]) => status.startsWith('2'))
  return {
    id: described.operationId,
    method,
    path,
    parameters: described.parameters ?? [],
    body: content['application/json']?.schema,
    bytes: 'application/octet-stream' in content,
    open: described.security.length === 0,
    heavy: described['x-starts'] !== undefined,
    media_type: (Object.keys(good?.[1].content ?? {})[0] ?? 'application/json').split(';')[0] as string,
    statuses: new Set(Object.keys(described.responses).map(Number)),
  }
}
