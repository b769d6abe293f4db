/** Whether a plugin runs: every reason why it cannot, and what is refused meanwhile. */
import { Alert, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { useSetFilters } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { dependentsQuery, lastFailureQuery } from '#console/ui/plugin/plugin-queries.ts'
import { describeReason, formatKind, type Plugin, type PluginReason } from '#console/ui/plugin/plugin-texts.ts'
import { ReasonList } from '#console/ui/plugin/reason-list.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { formatVersionName } from '#console/ui/version-names.ts'
import { DependentList } from './dependents.tsx'

export function PluginState({ plugin }: { readonly plugin: Plugin }) {
  const may = usePermission()
  const { active, runs } = plugin
  return (
    <Section title="State">
      <Stack gap="sm">
        <Facts
          of={[
            ['Kind', formatKind(plugin.kind)],
            [
              'In force',
              active === null ? (
                'No version'
              ) : (
                <span key="active">
                  <b>{formatVersionName(active)}</b>, since <DateTime at={active.effective_from} />
                  {active.via === 'shared' && ', put in force by the operator for all tenants'}
                </span>
              ),
            ],
            may('listPluginInvocations') && ['Last 30 days', <RecentRuns key="runs" plugin_key={plugin.plugin_key} />],
          ]}
        />
        {runs ? (
          <Alert color="teal" icon={<Icon name="check" />} title="Runs" role="status">
            <Text size="sm">
              The version in force is valid, and everything that it needs is granted and configured.
            </Text>
          </Alert>
        ) : (
          <CannotRun plugin={plugin} />
        )}
      </Stack>
    </Section>
  )
}

/** The tab that shows the place of a reason. */
function getTab({ pointer = '', line = 0 }: PluginReason, canReadSource: boolean): 'source' | 'examples' | 'overview' {
  if (line > 0 && canReadSource) return 'source'
  return pointer.startsWith('/examples') ? 'examples' : 'overview'
}

/** Opens the place of a reason, in a version or in the one that the state is about. */
export function useShowReason(version?: number): (reason: PluginReason) => void {
  const may = usePermission()
  const set = useSetFilters()
  return (reason) => {
    const tab = getTab(reason, may('getPluginSource'))
    set({ tab, version, line: tab === 'source' ? reason.line : undefined })
  }
}

function CannotRun({ plugin }: { readonly plugin: Plugin }) {
  const show = useShowReason()
  const { active, disabled } = plugin
  const reasons = plugin.reasons.filter(({ code }) => code !== 'not_in_force')
  const title = active === null ? 'Not in force' : disabled ? 'Disabled' : 'Cannot run'
  return (
    <Alert color={active === null ? 'yellow' : 'red'} icon={<Icon name="warning" />} title={title} role="status">
      <Stack gap="sm">
        {active === null && (
          <Text size="sm">
            No version is in force: put one in force under “Versions”.
            {reasons.length > 0 && ' The newest version cannot run yet:'}
          </Text>
        )}
        <ReasonList reasons={reasons} label="Why it cannot run" onShow={show} />
        <RefusedWork plugin={plugin} />
      </Stack>
    </Alert>
  )
}

function RefusedWork({ plugin }: { readonly plugin: Plugin }) {
  const { data } = useQuery({ ...dependentsQuery(plugin.plugin_key), throwOnError: false })
  if (data === undefined) return null
  if (data.items.length === 0) return <Text size="sm">Nothing in force uses it, so nothing is refused.</Text>
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        Refused now with status 503, until the plugin runs again:
      </Text>
      <DependentList items={data.items} />
    </Stack>
  )
}

function RecentRuns({ plugin_key }: { readonly plugin_key: string }) {
  const { data } = useQuery(lastFailureQuery(plugin_key))
  if (data === undefined) return <span className="quiet">–</span>
  const { invocations, items, failed } = data.last_30_days
  const last = data.items[0]
  if (invocations === 0 && last === undefined) return <>Not run yet</>
  return (
    <span>
      {formatCount(items, 'item')} in {formatCount(invocations, 'run')}, {failed === 0 ? 'none' : failed} failed
      {last && (
        <>
          ; last failure <RestrictionMark restriction_id={last.restriction_id} /> <RelativeTime at={last.invoked_at} />:{' '}
          {describeReason(last.failures[0]?.reason ?? '')}
        </>
      )}
    </span>
  )
}
