/** A shared list as the operator keeps it: published and activated in the system tenant by the module's own functions. */
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { activationStore, datasetStore, staging, typeStore, versionStore } from '#modules/definitions/index.ts'

import { type CompiledType, compileType } from '#registry/types/compile-type.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'
import type { TestApp } from './test-app.ts'

const SYSTEM = '00000000-0000-0000-0000-000000000000'

/** Two members with an order of severity, two without, of which one needs the other. */
export const ratingType = {
  title: 'Country rating',
  description: 'How risky a country is held to be.',
  schema: {
    type: 'object',
    properties: {
      country: { type: 'string', pattern: '^[A-Z]{2}$' },
      rating: { type: 'string', enum: ['low', 'medium', 'high'] },
      score: { type: 'integer', minimum: 0, maximum: 100 },
      note: { type: 'string', maxLength: 100 },
      reviewer: { type: 'string', maxLength: 100 },
    },
    dependentRequired: { reviewer: ['note'] },
    required: ['country', 'rating'],
    additionalProperties: false,
  },
  key_pointers: ['/country'],
  trim: true as const,
  fields: {
    '/rating': { title: 'Rating', order: ['low', 'medium', 'high'] },
    '/score': { title: 'Score', order: 'higher_is_stricter' as const },
  },
  examples: [{ country: 'DE', rating: 'low' }],
}

export interface Rating {
  readonly country: string
  readonly rating: 'low' | 'medium' | 'high'
  readonly score?: number
  readonly note?: string
  readonly reviewer?: string
}

export class SharedList {
  readonly list_key: string
  readonly #w: TestApp
  readonly #dataset: datasetStore.DatasetRow
  #type: typeStore.TypeRow
  #compiled: CompiledType

  private constructor(w: TestApp, dataset: datasetStore.DatasetRow, type: typeStore.TypeRow) {
    this.#w = w
    this.list_key = dataset.list_key
    this.#dataset = dataset
    this.#type = type
    this.#compiled = compileRow(type)
  }

  /** The next version of its type, with these members instead; versions published from now on have it. */
  async publishTypeVersion(properties: Record<string, object>): Promise<void> {
    const { schema } = ratingType
    const changed = { ...schema, properties: { ...schema.properties, ...properties } }
    const definition = typeStore.toTypeContent({ ...ratingType, schema: changed })
    const next = {
      type_key: this.#type.type_key,
      type_version: this.#type.type_version + 1,
      definition,
      definition_hash: typeStore.hashTypeContent(definition),
      compatibility: 'none' as const,
    }
    this.#type = (await asOperator(this.#w, (tx) => typeStore.insertType(tx, next))) as typeStore.TypeRow
    this.#compiled = compileRow(this.#type)
  }

  static async create(
    w: TestApp,
    overlay_policy: datasetStore.OverlayPolicy,
    entries: readonly Rating[],
  ): Promise<SharedList> {
    const list_key = `shared-${uuidv7().slice(-12)}`
    const definition = typeStore.toTypeContent(ratingType)
    const list = await asOperator(w, async (tx) => {
      const type = await typeStore.insertType(tx, {
        type_key: list_key,
        type_version: 1,
        definition,
        definition_hash: typeStore.hashTypeContent(definition),
        compatibility: 'backward',
      })
      const dataset = await datasetStore.insertDataset(tx, {
        dataset_id: uuidv7(),
        family: 'list',
        list_key,
        role: 'base',
        type_tenant_id: SYSTEM,
        type_key: list_key,
        title: 'Shared ratings',
        overlay_policy,
      })
      return new SharedList(w, dataset as datasetStore.DatasetRow, type as typeStore.TypeRow)
    })
    await list.publish(entries)
    return list
  }

  /** A new version with these entries, in force from now on; gives its number. */
  publish(entries: readonly Rating[]): Promise<number> {
    return asOperator(this.#w, async (tx) => {
      const rows = entries.map((entry, index) => {
        const prepared = this.#compiled.prepare({ ...entry })
        if (!('key' in prepared)) throw new Error(`not an entry: ${JSON.stringify(prepared)}`)
        return { ...prepared, row: index + 1 }
      })
      const made = await versionStore.publishStaged(tx, {
        dataset: this.#dataset,
        type: this.#type,
        content: await staging.stageRows(tx, rows),
        origin: 'inline',
        provenance: {},
        guards: null,
      })
      if (made === 'unchanged') throw new Error('a version was expected')
      await activationStore.activateVersion(tx, { list_key: this.list_key, version: made.version, reason: 'published' })
      return made.version
    })
  }
}

const compileRow = ({ type_key, type_version, definition }: typeStore.TypeRow): CompiledType =>
  compileType({ type_key, type_version, ...definition } as TypeDefinition)

const asOperator = <T>(w: TestApp, body: (tx: Tx) => Promise<T>): Promise<T> =>
  w.steward.write(fullScope(SYSTEM, 'operator:test'), body)
