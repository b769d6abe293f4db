/** What a plugin was run for, newest first, with its failures and their stacks. */
import './plugins.css'
import { Checkbox, Code, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { formatCount, toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { causeTexts, describeReason, getCausePage } from '#console/ui/plugin/plugin-texts.ts'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'

type Invocation = Schemas['PluginInvocation']

export function RunsTab({ plugin_key }: { readonly plugin_key: string }) {
  const { failed } = useSearch({ strict: false }) as { failed?: unknown }
  const set = useSetFilter()
  const isFailedOnly = failed === 'only'
  const list = usePages<Invocation>(
    ['definitions', 'plugin', 'invocations', plugin_key, isFailedOnly],
    (cursor, signal) =>
      probity.GET('/api/plugins/{plugin_key}/invocations', {
        params: { path: { plugin_key }, query: { ...cursor, failed: isFailedOnly, limit: 50 } },
        signal,
      }),
  )
  return (
    <Stack gap="sm">
      <Checkbox
        label="Only runs with a failure"
        checked={isFailedOnly}
        onChange={({ currentTarget: { checked } }) => set('failed', checked ? 'only' : null)}
      />
      <ListTable
        label="Runs"
        list={list}
        head={[
          { name: 'When' },
          { name: 'For' },
          { name: 'Version', from: 'sm' },
          { name: 'Items' },
          { name: 'Fuel', from: 'md' },
        ]}
        row={(one) => <RunRow key={one.invocation_id} of={one} />}
        empty={{
          title: 'Not run yet',
          about:
            'Decisions, imports and calls of providers that run the plugin appear here, with their failures. Of previews of imports only failures are recorded, and runs under “Try it” are not.',
          filters: ['failed'],
        }}
      />
    </Stack>
  )
}

function RunRow({ of }: { readonly of: Invocation }) {
  const page = getCausePage(of.cause)
  const name = causeTexts[of.cause.kind] ?? toSentence(of.cause.kind)
  return (
    <Table.Tr>
      <Table.Td>
        <DateTime at={of.invoked_at} />
        <Text size="xs" c="dimmed" component="div">
          by <Principal of={of.invoked_by} />
        </Text>
      </Table.Td>
      <Table.Td>
        {page === undefined ? (
          name
        ) : (
          <PageLink to={page} size="sm">
            {name}
          </PageLink>
        )}
        <RestrictionMark restriction_id={of.restriction_id} />
        <Failures of={of} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{of.version}</Table.Td>
      <Table.Td>
        {of.items.toLocaleString('en')}
        {of.failed > 0 && (
          <Text size="sm" c="red">
            {of.failed.toLocaleString('en')} failed
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="md">
        {of.fuel_total.toLocaleString('en')} <span className="quiet">at most {of.fuel_max.toLocaleString('en')}</span>
      </Table.Td>
    </Table.Tr>
  )
}

function Failures({ of: { failures, failed } }: { readonly of: Invocation }) {
  if (failures.length === 0) return null
  return (
    <details className="fold">
      <summary>
        {formatCount(failed, 'failure')}: {describeReason(failures[0]?.reason ?? '')}
      </summary>
      <Stack gap="xs" component="ul" className="plain-list">
        {failures.map((failure) => (
          <li key={failure.item}>
            <Text size="sm">
              Item {failure.item + 1}: <b>{describeReason(failure.reason)}.</b> {failure.message}
              {failure.line !== null && failure.line > 0 && <span className="quiet"> at line {failure.line}</span>}
            </Text>
            {failure.stack !== null && failure.stack !== '' && (
              // A region that scrolls must be reachable by keyboard.
              <Code block className="stack" tabIndex={0} role="region" aria-label={`Stack of item ${failure.item + 1}`}>
                {failure.stack}
              </Code>
            )}
          </li>
        ))}
      </Stack>
    </details>
  )
}
