/**
 * One matrix or rule: the version in force and its findings, and tabs for definition, versions, golden cases and
 * analyses.
 */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
import {
  type DefinitionKind,
  type DefinitionView,
  definitionQuery,
  getActiveOrLatest,
  textQuery,
  toApiPath,
  toOperationId,
  toPathParams,
} from '../decision/definition-kind.ts'
import { parseDefinition } from '../decision/definition-model.ts'
import { Findings } from '../decision/findings.tsx'
import { EmptyState } from '../empty-state.tsx'
import { useFilter } from '../filters.tsx'
import { ButtonLink, PageLink } from '../link.tsx'
import { useOrigin } from '../origin.ts'
import { Page } from '../page.tsx'
import { PartTabs } from '../part-tabs.tsx'
import { ProblemNote } from '../problem-note.tsx'
import { SearchButton } from '../search-link.tsx'
import { Section } from '../section.tsx'
import { PinnedMark } from '../why-in-force.tsx'
import { BacktestsTab } from './backtests-tab.tsx'
import { CasesTab } from './cases-tab.tsx'
import { DefinitionMenu } from './definition-menu.tsx'
import type { DefinitionParts } from './definition-parts.ts'
import { AttentionMark, SharedMark } from './definitions-page.tsx'
import { FactorsView } from './factors-view.tsx'
import { InForce } from './in-force.tsx'
import { PerformanceTab } from './performance-tab.tsx'
import { PinActions } from './pin-actions.tsx'
import { RollBack } from './roll-back.tsx'
import { SimulateTab } from './simulate-tab.tsx'
import { VersionsTab } from './versions-tab.tsx'

const tabs = ['reading', 'versions', 'cases', 'simulate', 'backtests', 'performance'] as const
const names = {
  reading: 'Definition',
  versions: 'Versions',
  cases: 'Golden cases',
  simulate: 'Simulate',
  backtests: 'Backtests',
  performance: 'Performance',
} as const

/** The version in the page address; by default the one in force. */
function useVersion(of: DefinitionView): number | 'draft' | null {
  const { version } = useSearch({ strict: false }) as { version?: unknown }
  if (version === 'draft' && of.draft !== null) return 'draft'
  if (Number.isInteger(version)) return Number(version)
  return getActiveOrLatest(of) ?? (of.draft === null ? null : 'draft')
}

export function DefinitionPage({ kind }: { readonly kind: DefinitionKind }) {
  const { key: definition_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: of } = useSuspenseQuery(definitionQuery(kind, definition_key, useOrigin()))
  const may = usePermission()
  const tab = useFilter('tab', tabs) ?? 'reading'
  const version = useVersion(of)
  const parts = { kind, definition_key, of, version }
  const panels: Readonly<Record<(typeof tabs)[number], ReactNode>> = {
    reading: <DefinitionTab {...parts} />,
    versions: <VersionsTab {...parts} />,
    cases: <CasesTab {...parts} />,
    simulate: <SimulateTab {...parts} />,
    backtests: <BacktestsTab {...parts} />,
    performance: <PerformanceTab rule_key={definition_key} />,
  }
  const offered = tabs.filter(
    (one) =>
      (one !== 'simulate' || may(toOperationId(kind, 'simulate', 'Version'))) &&
      (one !== 'backtests' || may(`list${kind.noun}Backtests`)) &&
      (one !== 'performance' || (kind.family === 'rule' && may('getRulePerformance'))),
  )
  return (
    <Page
      title={of.title}
      mark={
        <Group gap={6} wrap="nowrap">
          {of.origin === 'shared' && <SharedMark />}
          <PinnedMark of={of} />
          <AttentionMark of={of} />
        </Group>
      }
      about={of.description}
      trail={
        <PageLink to={kind.basePath} inherit>
          {kind.title}
        </PageLink>
      }
      actions={<PageActions {...parts} />}
    >
      <Stack gap="md">
        <Findings findings={of.attention} title="Findings for the version in force" />
        <InForce {...parts} />
      </Stack>
      <PartTabs label={`Parts of ${of.title}`} offered={offered} names={names} open={tab} panels={panels} />
    </Page>
  )
}

function PageActions({ kind, definition_key, of }: DefinitionParts) {
  const may = usePermission()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const isOurs = of.origin === 'own' && of.state === 'live'
  const open = useApiMutation(
    async (): Promise<void> => {
      const path = toPathParams(kind, definition_key)
      if (isOurs)
        await probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions'), { params: { path }, body: {} })
      else
        await probity.POST(toApiPath(kind, '/api/risk-matrices'), {
          body: { ...path, title: of.title, from_key: definition_key },
        })
    },
    {
      invalidates: [],
      // The tenant now has its own definition: invalidate everything, but do not refetch for the page that is left.
      onDone: async () => {
        await queries.invalidateQueries({ queryKey: ['definitions'], refetchType: 'none' })
        await navigate({ to: `${kind.basePath}/${definition_key}/draft` })
      },
    },
  )
  return (
    <>
      <ProblemNote problem={open.problem} />
      {of.active !== null && may('createEvaluation') && (
        <SearchButton to="/evaluations/new" search={{ [kind.family]: definition_key }} variant="default">
          Evaluate
        </SearchButton>
      )}
      {of.origin === 'shared' && <PinActions kind={kind} definition_key={definition_key} of={of} />}
      {isOurs && of.active !== null && may(toOperationId(kind, 'rollBack')) && (
        <RollBack kind={kind} definition_key={definition_key} of={of} />
      )}
      {of.draft !== null && may(toOperationId(kind, 'update', 'Draft')) && (
        <ButtonLink to={`${kind.basePath}/${definition_key}/draft`}>Open draft</ButtonLink>
      )}
      {of.draft === null && may(toOperationId(kind, 'create', 'Draft')) && of.state === 'live' && (
        <Button loading={open.isRunning} onClick={() => open.run(undefined)}>
          {isOurs ? 'New draft' : `Copy to own ${kind.word}`}
        </Button>
      )}
      {isOurs && <DefinitionMenu kind={kind} definition_key={definition_key} of={of} />}
    </>
  )
}

function DefinitionTab({ kind, definition_key, of, version }: DefinitionParts) {
  if (version === null)
    return (
      <EmptyState
        title="No version or draft yet"
        about={`The definition of this ${kind.word} is written in a draft, which is published as a version.`}
      />
    )
  return <DefinitionText kind={kind} definition_key={definition_key} of={of} version={version} />
}

function DefinitionText({
  kind,
  definition_key,
  of,
  version,
}: DefinitionParts & { readonly version: number | 'draft' }) {
  const { data: text } = useSuspenseQuery(textQuery(kind, definition_key, version, of.origin))
  return (
    <Stack gap="md">
      {version !== of.active?.version && (
        <Text size="sm" role="status">
          {version === 'draft' ? 'The draft' : `Version ${version}`} is not in force.
        </Text>
      )}
      <FactorsView definition={parseDefinition(text.definition)} />
      {text.reading.length > 0 && (
        <Section title="Definition in sentences">
          <Stack gap={4} component="ol" className="plain-list">
            {text.reading.map((line, place) => (
              <Text key={place} size="sm" component="li">
                {line}
              </Text>
            ))}
          </Stack>
        </Section>
      )}
    </Stack>
  )
}
