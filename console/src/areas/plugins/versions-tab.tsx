/** The versions of a plugin, newest first, with whether each can run and the actions on it. */
import '#console/ui/registry.css'
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { OpenActivationNote, useOpenActivation } from '#console/ui/change-request/open-activation.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { pluginKind } from '#console/ui/decision/definition-kind.ts'
import { InForcePeriods } from '#console/ui/definition/in-force-periods.tsx'
import { PutInForce } from '#console/ui/definition/put-in-force.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { RunsBadge } from '#console/ui/plugin/plugin-badges.tsx'
import { pluginVersionsQuery } from '#console/ui/plugin/plugin-queries.ts'
import { describeReason, type Plugin } from '#console/ui/plugin/plugin-texts.ts'
import { Principal } from '#console/ui/principal.tsx'
import type { ActivationMode } from '#console/ui/put-in-force.tsx'
import { SearchButton } from '#console/ui/search-link.tsx'
import { PinnedMark } from '#console/ui/why-in-force.tsx'

type Version = Schemas['PluginVersionItem']

export function VersionsTab({ plugin }: { readonly plugin: Plugin }) {
  const { plugin_key, origin } = plugin
  const { data: versions } = useSuspenseQuery(pluginVersionsQuery(plugin_key, origin))
  return (
    <Stack gap="md">
      <InForcePeriods kind={pluginKind} definition_key={plugin_key} of={plugin} />
      {versions.length === 0 ? (
        <EmptyState
          title="No version yet"
          about="A version is uploaded as a package with a manifest, a source file and golden examples."
        />
      ) : (
        <ol className="timeline" aria-label="Versions, newest first">
          {versions.map((version) => (
            <VersionItem key={version.version} plugin={plugin} version={version} />
          ))}
        </ol>
      )}
    </Stack>
  )
}

interface VersionItemProps {
  readonly plugin: Plugin
  readonly version: Version
}

function VersionItem({ plugin, version }: VersionItemProps) {
  const may = usePermission()
  const { plugin_key } = plugin
  const { version: number, in_force, reasons } = version
  return (
    <li data-in-force={in_force} aria-label={`Version ${number}`}>
      <div className="version">
        <Stack gap={4} miw={0}>
          <Group gap="xs">
            <Text fw={650}>
              Version {number}
              {version.label !== null && <span className="quiet"> {version.label}</span>}
            </Text>
            {in_force && (
              <Badge variant="light" color="teal" tt="none">
                in force
              </Badge>
            )}
            {in_force && <PinnedMark of={plugin} />}
            <RunsBadge runs={version.runs} />
          </Group>
          <Text size="xs" c="dimmed" component="div">
            <DateTime at={version.created_at} />, by <Principal of={version.created_by} />
          </Text>
          {version.note && <Text size="sm">“{version.note}”</Text>}
          {reasons.length > 0 && (
            <Text size="sm" c="red" id={toReasonsId(number)}>
              {[...new Set(reasons.map(({ code }) => describeReason(code)))].join('. ')}.
              {!in_force && !canPutInForce(version) && ' It cannot be put in force.'}
            </Text>
          )}
          {version.content_hash !== null && (
            <CopyValue value={version.content_hash.slice(0, 16)} name="the beginning of the content hash" />
          )}
        </Stack>
        <Group gap="xs" align="flex-start">
          {number > 1 && may('diffPluginVersions') && (
            <SearchButton
              to={`/plugins/${plugin_key}/diff`}
              search={{ from: number - 1, to: number, origin: plugin.origin }}
              size="xs"
              variant="default"
            >
              Changes<span className="sr-only"> in version {number}</span>
            </SearchButton>
          )}
          <SearchButton
            to={`/plugins/${plugin_key}`}
            search={{ tab: 'overview', version: number, origin: plugin.origin }}
            size="xs"
            variant="default"
          >
            View<span className="sr-only"> version {number}</span>
          </SearchButton>
          <ActivationButtons plugin={plugin} version={version} />
        </Group>
      </div>
    </li>
  )
}

const toReasonsId = (version: number): string => `reasons-${version}`

/** What is only disabled may be put in force; anything else that keeps a version from running holds it back. */
const canPutInForce = ({ reasons }: Version): boolean => reasons.every(({ code }) => code === 'disabled')

function ActivationButtons({ plugin, version: item }: VersionItemProps) {
  const { version, in_force } = item
  const may = usePermission()
  const [way, setWay] = useState<ActivationMode | null>(null)
  const open = useOpenActivation({ param: 'plugin_key', key: plugin.plugin_key, version })
  if (plugin.origin !== 'own' || plugin.state !== 'live' || in_force) return null
  if (open !== null) return <OpenActivationNote request={open} version={version} />
  const held = canPutInForce(item) ? {} : { disabled: true, 'aria-describedby': toReasonsId(version) }
  return (
    <>
      {may('activatePluginVersion') ? (
        <>
          <Button size="xs" variant="default" {...held} onClick={() => setWay('later')}>
            Schedule<span className="sr-only"> version {version}</span>
          </Button>
          <Button size="xs" {...held} onClick={() => setWay('now')}>
            Put in force<span className="sr-only">: version {version}</span>
          </Button>
        </>
      ) : (
        may('submitPluginVersion') && (
          <Button size="xs" {...held} onClick={() => setWay('submit')}>
            Request activation<span className="sr-only"> of version {version}</span>
          </Button>
        )
      )}
      <PutInForce
        key={`${way}`}
        kind={pluginKind}
        definition_key={plugin.plugin_key}
        of={plugin}
        version={version}
        way={way}
        onClose={() => setWay(null)}
      />
    </>
  )
}
