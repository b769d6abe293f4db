/** The demo tenant's own lists: versions over a year, put in force from the day each applied from. */

import type { DemoCalendar } from './demo-calendar.ts'
import type { DemoCaller } from './demo-caller.ts'
import { UnexpectedReply } from './demo-caller.ts'
import type { DemoList, DemoListVersion, PortfolioFile } from './demo-files.ts'
import { forEachConcurrently } from './demo-ratings.ts'

interface ListState {
  readonly versions_total: number
}

const at = (list_key: string): string => `/api/reference-data/datasets/${list_key}`

/** Continues where an earlier run stopped: versions and activations are counted. */
export async function seedLists(
  caller: DemoCaller,
  lists: readonly DemoList[],
  { calendar, names }: { calendar: DemoCalendar; names: PortfolioFile },
): Promise<void> {
  await forEachConcurrently(lists, async (list) => {
    const { versions, parties: _, ...settings } = list
    await ignoreDuplicate(() => caller.post('policy_editor', '/api/reference-data/datasets', settings))
    const { versions_total } = await caller.get<ListState>('policy_editor', `${at(list.list_key)}?origin=own`)
    for (const version of versions.slice(versions_total)) {
      await caller.post('policy_editor', `${at(list.list_key)}/versions`, {
        data: version.entries ?? buildParties(list, version, names),
        label: version.label,
        note: version.note,
      })
    }
    await activateVersions(caller, list, calendar)
  })
}

async function activateVersions(caller: DemoCaller, list: DemoList, calendar: DemoCalendar): Promise<void> {
  const { items } = await caller.get<{ items: unknown[] }>('compliance_officer', `${at(list.list_key)}/activations`)
  const planned = list.versions.flatMap(({ in_force_days_ago, reason }, index) =>
    in_force_days_ago === undefined ? [] : [{ version: index + 1, in_force_days_ago, reason }],
  )
  for (const { version, in_force_days_ago, reason } of planned.slice(items.length)) {
    await caller.post('compliance_officer', `${at(list.list_key)}/activations`, {
      version,
      effective_from: calendar.toInstant(in_force_days_ago),
      reason,
    })
  }
}

/** Invented parties; those named in `changed` have an address more. */
function buildParties(list: DemoList, { parties }: DemoListVersion, names: PortfolioFile): Record<string, unknown>[] {
  const { kinds = [], programme, listed_on } = list.parties ?? {}
  const { from, to, changed = [] } = parties ?? { from: 1, to: 0 }
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const number = from + index
    const kind = kinds[number % kinds.length]
    const name = buildPartyName(kind, number, names)
    return {
      source: 'internal',
      source_id: `WATCH-${String(number).padStart(4, '0')}`,
      kind,
      name,
      names: [{ name, kind: 'primary' }],
      titles: [],
      positions: [],
      birth_dates: [],
      birth_places: [],
      nationalities: [],
      addresses: changed.includes(number) ? [{ text: `${number} Example Street, Anytown`, country: 'DE' }] : [],
      identifiers: [],
      programmes: [programme],
      references: [],
      listed_on,
      remarks: 'Fictitious.',
    }
  })
}

/** The names are read backwards, so that no party has the name of a customer. */
function buildPartyName(kind: string | undefined, number: number, names: PortfolioFile): string {
  if (kind === 'organisation') return `${names.company_names.at(-1 - (number % 20))} Trading House ${number}`
  return `${names.given_names.at(-1 - (number % 31))} ${names.family_names.at(-1 - ((number * 5) % 43))}`
}

/** What an earlier run created is kept. */
export async function ignoreDuplicate(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    if (!(error instanceof UnexpectedReply && error.code === 'duplicate')) throw error
  }
}
