/** Calls of all providers, by provider, capability, state, subject and time. */
import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { usePermission } from '#console/session/queries.ts'
import { type Choice, KnownFilter, useFilter, useKnownFilter, useSetFilter } from '#console/ui/filters.tsx'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { capabilitiesQuery } from '#console/ui/provider/provider-queries.ts'
import { callStateNames, callStates } from '#console/ui/provider/provider-texts.ts'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'
import { isSubjectId } from '#console/ui/subject-queries.ts'
import { CallTable } from './call-table.tsx'

const ages = ['day', 'week', 'month'] as const
const ageNames = { day: 'Last 24 hours', week: 'Last 7 days', month: 'Last 30 days' } as const
const ageDays = { day: 1, week: 7, month: 30 } as const
const stateChoices = callStates.map((value) => ({ value, label: toSentence(callStateNames[value]) }))
const ageChoices = ages.map((value) => ({ value, label: ageNames[value] }))

/** To the minute, so that the list is not read again for every second. */
const toStart = (days: number): string => {
  const at_ms = Date.now() - days * 86_400_000
  return new Date(at_ms - (at_ms % 60_000)).toISOString()
}

const unique = (choices: readonly Choice[]): Choice[] => [...new Map(choices.map((one) => [one.value, one])).values()]

export default function CallsPage() {
  const may = usePermission()
  const set = useSetFilter()
  const { data: offered } = useQuery(capabilitiesQuery)
  const providers = offered && unique(offered.map((one) => ({ value: one.provider_key, label: one.provider_title })))
  const provider = useKnownFilter('provider', providers)
  const capabilities =
    offered &&
    unique(
      offered
        .filter(({ provider_key }) => provider.value === undefined || provider.value === provider_key)
        .map(({ name }) => ({ value: name, label: name })),
    )
  const capability = useKnownFilter('capability', capabilities)
  const state = useFilter('state', callStates)
  const age = useFilter('age', ages)
  const { subject } = useSearch({ strict: false }) as { subject?: string }
  return (
    <Page
      title="Calls of providers"
      about="Every question that was asked, with its attempts and what came of it. Values of questions and answers are not shown here."
      trail={
        <PageLink to="/providers" inherit>
          Providers
        </PageLink>
      }
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <KnownFilter name="provider" label="Provider" choices={providers} everything="All providers" />
        <KnownFilter name="capability" label="Capability" choices={capabilities} everything="All capabilities" />
        <KnownFilter name="state" label="State" choices={stateChoices} everything="All states" />
        <KnownFilter name="age" label="Time" choices={ageChoices} everything="Any time" />
        {may('listSubjects') && (
          <SubjectPicker
            label="Subject"
            size="xs"
            width={220}
            subject_id={subject ?? null}
            onChange={(chosen) => set('subject', chosen)}
          />
        )}
      </Group>
      <CallTable
        filters={{
          provider_key: provider.value,
          capability: capability.value,
          state,
          subject_id: isSubjectId(subject) ? subject : undefined,
          from: age === undefined ? undefined : toStart(ageDays[age]),
        }}
        empty={{
          title: 'No calls yet',
          about:
            'Calls are made from the page of a provider, or by an evaluation whose matrix reads facts of a provider.',
          filters: ['provider', 'capability', 'state', 'age', 'subject'],
        }}
      />
    </Page>
  )
}
