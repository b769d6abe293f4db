/** One list: the version in force, and tabs for versions, entries, activations, overlay and proofs. */
import { Badge, Group, Stack, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { useFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { useOrigin } from '#console/ui/origin.ts'
import { Page } from '#console/ui/page.tsx'
import { PartTabs } from '#console/ui/part-tabs.tsx'
import { type Dataset, datasetQuery, getActiveListVersion, useTypeTitles } from '#console/ui/registry-queries.ts'
import { SearchButton, SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { formatVersionName } from '#console/ui/version-names.ts'
import { PinnedMark, WhyInForce } from '#console/ui/why-in-force.tsx'
import { usePin } from './activations-query.ts'
import { ActivationsTab } from './activations-tab.tsx'
import { EntriesTab } from './entries-tab.tsx'
import { Freshness } from './freshness.tsx'
import { ListMenu } from './list-menu.tsx'
import { OverlayTab } from './overlay-tab.tsx'
import { PinActions } from './pin-actions.tsx'
import { ProofTab } from './proof-tab.tsx'
import { RollBack } from './roll-back.tsx'
import { entriesInForce } from './version-texts.ts'
import { VersionsTab } from './versions-tab.tsx'

const tabs = ['versions', 'entries', 'activations', 'overlay', 'proof'] as const
const names = {
  versions: 'Versions',
  entries: 'Entries',
  activations: 'Activations',
  overlay: 'Overlay',
  proof: 'Proof',
} as const

export default function DatasetPage() {
  const { list_key = '' } = useParams({ strict: false }) as { list_key?: string }
  const { data: dataset } = useSuspenseQuery(datasetQuery(list_key, useOrigin()))
  const isShared = dataset.origin === 'shared'
  const tab = useFilter('tab', tabs) ?? 'versions'
  const panels: Readonly<Record<(typeof tabs)[number], ReactNode>> = {
    versions: <VersionsTab dataset={dataset} />,
    entries: <EntriesTab dataset={dataset} />,
    activations: <ActivationsTab dataset={dataset} />,
    overlay: <OverlayTab dataset={dataset} />,
    proof: <ProofTab dataset={dataset} />,
  }
  return (
    <Page
      title={dataset.title}
      mark={
        <Group gap={6} wrap="nowrap">
          {isShared && (
            <Badge variant="default" tt="none" fw={500} miw="max-content">
              shared
            </Badge>
          )}
          <PinnedMark of={dataset} />
          <Freshness dataset={dataset} />
        </Group>
      }
      about={dataset.description}
      trail={
        <PageLink to="/datasets" inherit>
          Lists
        </PageLink>
      }
      actions={<Actions dataset={dataset} />}
    >
      <InForce dataset={dataset} />
      <PartTabs
        label={`Parts of ${dataset.title}`}
        offered={tabs.filter((one) => one !== 'overlay' || isShared)}
        names={names}
        open={tab}
        panels={panels}
      />
    </Page>
  )
}

function Actions({ dataset }: { readonly dataset: Dataset }) {
  const may = usePermission()
  const isLive = dataset.state === 'live'
  return (
    <>
      <SearchButton to="/resolver" search={{ list: dataset.list_key }} variant="default">
        Resolve
      </SearchButton>
      {dataset.origin === 'shared' && <PinActions dataset={dataset} />}
      {dataset.origin === 'own' && isLive && (
        <>
          {dataset.active !== null && may('rollBackDataset') && <RollBack dataset={dataset} />}
          {may('startImport') && (
            <SearchButton to="/imports/new" search={{ list: dataset.list_key }}>
              Import file
            </SearchButton>
          )}
          <ListMenu dataset={dataset} />
        </>
      )}
    </>
  )
}

/** The list of the other owner, if it is in force under the same key. */
function OtherListInForce({ list_key }: { readonly list_key: string }) {
  const { data } = useQuery({ ...datasetQuery(list_key), throwOnError: false })
  const inForce = data && getActiveListVersion(data)
  if (!inForce) return null
  return (
    <>
      {inForce.origin === 'shared' ? 'The shared' : 'This tenant’s'} list with the same key is in force:{' '}
      <SearchLink to={`/datasets/${list_key}`} search={{ origin: inForce.origin }} inherit>
        version {inForce.version}
      </SearchLink>
      .{' '}
    </>
  )
}

/** An archived list has no actions; its versions stay readable. */
const getWayInForce = (state: Dataset['state'], hasVersion: boolean): string => {
  if (state !== 'live') return 'The list was archived: no version of it can be put in force.'
  return hasVersion ? 'Put a version in force below.' : 'Import a version, then put it in force.'
}

function InForce({ dataset }: { readonly dataset: Dataset }) {
  const { active, pending } = dataset
  const { own } = usePin(dataset)
  const summary = dataset.versions.find(({ version }) => version === active?.version)
  const usable = dataset.versions.filter(({ state }) => state !== 'withdrawn')
  const newer = usable.filter(({ version }) => active !== null && version > active.version).length
  const newest = usable[0]
  return (
    <Section title="In force">
      {active === null ? (
        <Text size="sm">
          No version. <OtherListInForce list_key={dataset.list_key} />
          {dataset.origin === 'own' && getWayInForce(dataset.state, newest !== undefined)}
        </Text>
      ) : (
        <Facts
          of={[
            [
              'Version',
              <Group key="version" gap="xs">
                <b>{formatVersionName({ version: active.version, label: summary?.label ?? null })}</b>
                <span className="quiet">{formatCount(entriesInForce(dataset) ?? 0, 'entry', 'entries')}</span>
                {newer > 0 && newest && (
                  <SearchLink
                    to={`/datasets/${dataset.list_key}/diff`}
                    search={{ from: active.version, to: newest.version, origin: dataset.origin }}
                    size="sm"
                  >
                    {formatCount(newer, 'newer version', 'newer versions')}: compare
                  </SearchLink>
                )}
              </Group>,
            ],
            ['Reason', <WhyInForce key="why" word="list" active={active} own={own} />],
            active.overlay_version !== null && [
              'Overlay',
              <span key="overlay">This tenant’s overlay version {active.overlay_version} is applied.</span>,
            ],
            pending.length > 0 && [
              'Scheduled',
              <Stack key="pending" gap={2}>
                {pending.map(({ version, effective_from, reason }) => (
                  <span key={effective_from}>
                    version {version} <RelativeTime at={effective_from} />, <DateTime at={effective_from} />: “{reason}”
                  </span>
                ))}
              </Stack>,
            ],
            ['Content hash', <CopyValue key="hash" value={active.content_hash} name="the content hash" />],
            ['Owner', dataset.owner],
            [
              'Type',
              <PageLink key="type" to={`/types/${dataset.type_key}`} size="sm">
                <TypeTitle type_key={dataset.type_key} />
              </PageLink>,
            ],
          ]}
        />
      )}
    </Section>
  )
}

function TypeTitle({ type_key }: Pick<Dataset, 'type_key'>) {
  return <span title={type_key}>{useTypeTitles().get(type_key) ?? type_key}</span>
}
