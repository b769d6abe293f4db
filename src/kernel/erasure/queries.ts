/** SQL of what an erasure overwrites or removes. Fragments are constants of a module's queries.ts, never input. */
import type { Tx } from '../database/tx.ts'
import type { ErasedRows, ErasedSubject, ErasureClass, FoundRows } from './erasure-class.ts'

/** In every fragment `r` is the row, and `m` the subject: m.subject_id, m.sure, m.own, m.marks. */
export interface ErasableRows {
  readonly table: string
  /** A uuid by which a person names the row, or the object that it belongs to; null: it is never left for review. */
  readonly id: string | null
  /** The subject that the row belongs to; null: it belongs to none. A row of another subject is never touched. */
  readonly owner: string | null
  /** Texts in which a row of no subject is searched for marks. */
  readonly text: string
  /** JSON in which an object may describe the subject. */
  readonly json?: string
  /** In the place of owner, text and json: `id`, `mark`, `review` or null. */
  readonly match?: string
  /** A further condition; by default every row of the tenant is searched. */
  readonly where?: string
  /** What such a row becomes; null: it is removed. */
  readonly set: string | null
  /** What one found by a mark becomes, if it differs; `review`: it stays, and a person decides. */
  readonly by_mark?: string
  /** Objects whose hold keeps the row. */
  readonly held_by?: readonly string[]
  /** A condition under which the row is a case that is not ended: it, and with it the subject, is kept like one that is held. */
  readonly open?: string
  readonly restriction?: string
  /** An array of those that hide the row too. */
  readonly other_restrictions?: string
  /** Whether the class is erased even if neither decider sees the row: it describes a restriction, not what the restriction protects. */
  readonly even_hidden?: true
}

/** Enough to work through; the next preview shows the others. */
const MAX_REVIEW = 100

const subjectRow = `(select $2::uuid as subject_id, $3::text[] as sure, $4::text[] as own, $5::text[] as marks, $6::text[] as also) m`

const closed = ({ restriction = 'null::uuid', other_restrictions }: ErasableRows): string =>
  other_restrictions === undefined
    ? `app.is_closed_to_erasure(${restriction})`
    : `app.is_closed_to_erasure((${restriction}) || ${other_restrictions})`

/** A row of no subject that is hidden by what it names only mentions this one, also where it has the id. */
function match(one: ErasableRows): string {
  const { owner = null, text, json = 'null::jsonb', other_restrictions } = one
  const found =
    one.match ?? `app.match_erasure(${owner ?? 'null::uuid'}, ${text}, ${json}, m.subject_id, m.sure, m.own, m.marks)`
  if (one.match !== undefined || other_restrictions === undefined) return found
  return `case when (${owner ?? 'null'}) is null and ${closed(one)} then replace(${found}, 'id', 'mark') else ${found} end`
}

/** Held rows, and rows that only mention the subject under a restriction that neither decider sees. */
function isHeld(one: ErasableRows): string {
  const rules = (one.held_by ?? []).map((object) => `app.is_held(${object})`)
  const isRestricted = one.restriction !== undefined || one.other_restrictions !== undefined
  if (isRestricted && !one.even_hidden) rules.push(closed(one))
  return rules.length === 0 ? 'false' : `(${rules.join(' or ')})`
}

/** With the names of the columns. */
function selectRestrictions({ restriction = 'null::uuid', other_restrictions }: ErasableRows): [string, string] {
  const first = `${restriction} as restriction_id`
  return other_restrictions === undefined
    ? [first, 'restriction_id']
    : [
        `${first}, array_remove(${other_restrictions}, null)::text[] as other_restriction_ids`,
        'restriction_id, other_restriction_ids',
      ]
}

const isOpen = ({ open = 'false' }: ErasableRows): string => `(${open})`

const inTenant = ({ where = 'true' }: ErasableRows): string => `r.tenant_id = $1 and (${where})`

const getParameters = (tx: Tx, name: string, { subject_id, sure, own, marks, also }: ErasedSubject) => [
  ...[tx.tenant_id, subject_id, sure, own, marks],
  also.filter((row) => row.class === name).map(({ id }) => id),
]

const findText = (one: ErasableRows): string => {
  // A row that the request names is found like one by a mark.
  const found =
    one.by_mark === 'review'
      ? `case f.found when 'mark' then 'review' else f.found end`
      : `case when f.found = 'review' and f.id = any (f.also) then 'mark' else f.found end`
  const [restrictions, names] = selectRestrictions(one)
  return `select ${names}, count(*) filter (where f.kind = 'id') as by_id,
            count(*) filter (where f.kind = 'mark' and not f.is_held and not f.is_open) as by_mark,
            count(*) filter (where f.kind = 'review') as left_for_review,
            count(*) filter (where f.kind = 'mark' and (f.is_held or f.is_open)) as kept_by_hold,
            count(*) filter (where f.kind = 'id' and f.is_held) as held_by_id,
            count(*) filter (where f.kind = 'id' and f.is_open) as open_by_id,
            coalesce((array_agg(distinct f.id) filter (where f.kind = 'review'))[1:${MAX_REVIEW}], '{}') as review,
            coalesce(array_agg(distinct f.id) filter (where f.kind = 'mark' and f.found = 'review'), '{}') as named
       from (select f.*, ${found} as kind
               from (select ${restrictions}, (${one.id ?? 'null'})::text as id, ${isHeld(one)} as is_held, ${isOpen(one)} as is_open,
                            m.also, ${match(one)} as found
                       from app.${one.table} r cross join ${subjectRow} where ${inTenant(one)} offset 0) f
              where f.found is not null${one.id === null ? ` and f.found <> 'review'` : ''}) f
      group by ${names}`
}

/** Rows of the subject, which a trigger keeps if they are held; then those that were found by a mark and are not held. */
function eraseTexts(one: ErasableRows): string[] {
  const [restrictions, names] = selectRestrictions(one)
  const change = (set: string | null, condition: string): string => {
    const where = `${inTenant(one)} and ${condition}`
    const statement =
      set === null
        ? `delete from app.${one.table} r using ${subjectRow} where ${where}`
        : `update app.${one.table} r set ${set} from ${subjectRow} where ${where}`
    return `with done as (${statement} returning ${restrictions})
            select ${names}, count(*) as count from done group by ${names}`
  }
  const byId = change(one.set, `${match(one)} = 'id'`)
  if (one.by_mark === 'review') return [byId]
  const named = one.id === null ? '' : ` when 'review' then (${one.id})::text = any (m.also)`
  const byMark = `case ${match(one)} when 'mark' then true${named} else false end and not ${isHeld(one)} and not ${isOpen(one)}`
  return [byId, change(one.by_mark ?? one.set, byMark)]
}

const setColumns = (table: string, set: string | null): string[] =>
  set === null ? [`${table}.*`] : [...set.matchAll(/(?:^|,)\s*(\w+) = /g)].map(([, column]) => `${table}.${column}`)

export function createErasureClass(
  name: string,
  title: string,
  rows: readonly ErasableRows[],
): ErasureClass & { readonly record: null } {
  return {
    name,
    title,
    record: null,
    columns: [
      ...new Set(
        rows.flatMap(({ table, set, by_mark }) => [
          ...setColumns(table, set),
          ...(by_mark === undefined || by_mark === 'review' ? [] : setColumns(table, by_mark)),
        ]),
      ),
    ],
    find: async (tx, subject) => {
      const found: FoundRows[] = []
      for (const one of rows)
        found.push(...(await tx.query<FoundRows>(findText(one), getParameters(tx, name, subject))))
      return found
    },
    findVisible: async (tx, ids) => {
      const visible: string[] = []
      for (const { table, id } of rows) {
        if (id === null) continue
        const text = `select distinct ${id} as id from app.${table} r where r.tenant_id = $1 and ${id} = any ($2::uuid[])`
        visible.push(...(await tx.query<{ id: string }>(text, [tx.tenant_id, ids])).map((row) => row.id))
      }
      return visible
    },
    erase: async (tx, subject) => {
      const erased: ErasedRows[] = []
      for (const one of rows)
        for (const text of eraseTexts(one))
          erased.push(...(await tx.query<ErasedRows>(text, getParameters(tx, name, subject))))
      return erased
    },
  }
}
