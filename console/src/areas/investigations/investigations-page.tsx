/** Investigations that the user may see, newest first. */
import { Button, Group, Switch, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { definitionsQuery, getDefinitionKey, playbookKind } from '#console/ui/decision/definition-kind.ts'
import { TEST_CASE_TEXT } from '#console/ui/decision/is-test.ts'
import { TestMark } from '#console/ui/decision/is-test-mark.tsx'
import { Filter, useFilter, useSetFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'
import { isSubjectId } from '#console/ui/subject-queries.ts'
import { ClockMark, type WorkClock } from '#console/ui/work/clock-mark.tsx'
import { OpenCase } from '#console/ui/work/open-case.tsx'
import { PriorityBar } from '#console/ui/work/priority.tsx'
import { REFETCH_MS, useWorkClocks } from '#console/ui/work/work-queries.ts'
import { CaseState, GatheringState } from './case-badges.tsx'
import { hasEnded, type InvestigationSummary } from './investigation-queries.ts'

const states = ['open', 'proposed', 'closed', 'merged', 'ended'] as const
const views = ['mine'] as const
const waits = ['yes', 'no'] as const

function useInvestigations(playbooks: readonly string[]) {
  const { principal } = useMe()
  const search = useSearch({ strict: false }) as { subject?: unknown }
  const state = useFilter('state', states)
  const isMine = useFilter('view', views) === 'mine'
  const playbook = useFilter('playbook', playbooks)
  const waiting = useFilter('waiting', waits)
  const subject_id = typeof search.subject === 'string' && isSubjectId(search.subject) ? search.subject : undefined
  const list = usePages<InvestigationSummary>(
    ['investigations', 'list', state, isMine, playbook, waiting, subject_id],
    (cursor, signal) =>
      probity.GET('/api/investigations', {
        params: {
          query: {
            ...cursor,
            limit: 50,
            ...(state !== undefined && { state }),
            ...(isMine && { assignee: principal.replace(/^user:/, '') }),
            ...(playbook !== undefined && { playbook_key: playbook }),
            ...(waiting !== undefined && { is_waiting: waiting === 'yes' ? ('true' as const) : ('false' as const) }),
            ...(subject_id !== undefined && { subject_id }),
          },
        },
        signal,
      }),
    { refetch_ms: REFETCH_MS },
  )
  return { list, isMine, subject_id: subject_id ?? null }
}

export default function InvestigationsPage() {
  const may = usePermission()
  const set = useSetFilter()
  const [isOpening, opening] = useDisclosure(false)
  const { data } = useQuery({ ...definitionsQuery(playbookKind), enabled: may('listPlaybooks'), throwOnError: false })
  const playbooks = (data ?? []).map(getDefinitionKey)
  const { list, isMine, subject_id } = useInvestigations(playbooks)
  const clocks = useWorkClocks('investigation')
  const open = may('createInvestigation') && <Button onClick={opening.open}>Open a case</Button>
  return (
    <Page
      title="Investigations"
      about="Each case follows a playbook: what is gathered about the subject, what was found, and how the case ended."
      actions={open}
      width="wide"
    >
      <Group gap="xs" mb="sm" align="center">
        <Switch
          label="Mine"
          checked={isMine}
          onChange={(event) => set('view', event.currentTarget.checked ? 'mine' : null)}
        />
        <Filter name="state" label="State" values={states} everything="Any state" />
        <Filter name="playbook" label="Playbook" values={playbooks} everything="Any playbook" />
        <Filter name="waiting" label="Waiting" values={waits} everything="Waiting or not" />
        {may('listSubjects') && (
          <SubjectPicker
            label="Subject"
            isLabelHidden
            placeholder="Any subject"
            size="xs"
            width={220}
            subject_id={subject_id}
            onChange={(chosen) => set('subject', chosen)}
          />
        )}
      </Group>
      <ListTable
        label="Investigations"
        list={list}
        empty={{
          title: 'No investigations',
          about: 'A case is opened here, from a subject, by escalating an alert, or by the trigger of a matrix.',
          filters: ['state', 'view', 'playbook', 'waiting', 'subject'],
          action: open,
        }}
        head={[
          { name: 'Priority', isHidden: true },
          { name: 'Number' },
          { name: 'Subject', from: 'sm' },
          { name: 'State' },
          { name: 'Gathering', from: 'md' },
          { name: 'Clock', from: 'sm' },
          { name: 'Assignee', from: 'sm' },
        ]}
        row={(one) => <CaseRow key={one.investigation_id} of={one} clock={clocks.get(one.investigation_id)} />}
      />
      {isOpening && <OpenCase {...(subject_id !== null && { subject_id })} onClose={opening.close} />}
    </Page>
  )
}

interface CaseRowProps {
  readonly of: InvestigationSummary
  readonly clock: WorkClock | undefined
}

function CaseRow({ of, clock }: CaseRowProps) {
  const navigate = useNavigate()
  const to = `/investigations/${of.investigation_id}`
  return (
    <Table.Tr
      className="row-open"
      onClick={({ target }) => {
        // A link in the row leads elsewhere, or to the same page.
        if (!(target as Element).closest('a')) void navigate({ to })
      }}
    >
      <Table.Td w={20} px={6}>
        <PriorityBar priority={of.priority} />
      </Table.Td>
      <Table.Td>
        <PageLink to={to} size="sm" fw={600} className="nowrap">
          {of.reference}
        </PageLink>
        <RestrictionMark restriction_id={of.is_restricted ? of.restriction_id : null} />
        <Text size="sm" lineClamp={2} className="break">
          {of.title}
        </Text>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {of.subject.name}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm" className="whole-words">
        {of.subject.name}
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          <CaseState of={of} />
          <TestMark of={of} text={TEST_CASE_TEXT} />
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <GatheringState of={of} />
      </Table.Td>
      <Table.Td visibleFrom="sm" className="nowrap">
        <ClockMark clock={hasEnded(of) ? undefined : clock} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {of.assignee === null ? <span className="quiet">nobody</span> : <Principal of={of.assignee} />}
      </Table.Td>
    </Table.Tr>
  )
}
