/** One version of a plugin for reading: what it does, needs and declares, and its manifest with located faults. */

import { Stack, Text } from '@mantine/core'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { formatSize } from '#console/ui/file-drop.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { LocatedJson } from '#console/ui/located-json.tsx'
import { RunsBadge } from '#console/ui/plugin/plugin-badges.tsx'
import { readManifest, sortManifest } from '#console/ui/plugin/plugin-manifest.ts'
import { describeReason, formatKind, type Plugin, type PluginVersion } from '#console/ui/plugin/plugin-texts.ts'
import { ReasonList } from '#console/ui/plugin/reason-list.tsx'
import { formatPoints } from '#console/ui/points.ts'
import { Principal } from '#console/ui/principal.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { useShowReason } from './plugin-state.tsx'

interface OverviewTabProps {
  readonly plugin: Plugin
  readonly version: PluginVersion
}

export function OverviewTab({ plugin, version }: OverviewTabProps) {
  const show = useShowReason(version.version)
  const isInState = version.version === (plugin.active?.version ?? plugin.head_version)
  return (
    <Stack gap="md">
      {/* The state above lists the reasons of the version in force, else of the newest one. */}
      {!isInState && version.reasons.length > 0 && (
        <Section title={`Why version ${version.version} cannot run`}>
          <ReasonList reasons={version.reasons} label={`Why version ${version.version} cannot run`} onShow={show} />
        </Section>
      )}
      <About version={version} />
      <Manifest version={version} />
    </Stack>
  )
}

function About({ version }: { readonly version: PluginVersion }) {
  const { lists, hosts, inputs, score, ...manifest } = readManifest(version.manifest)
  const { validation } = version
  return (
    <Section title={`Version ${version.version}`}>
      <Facts
        of={[
          ['State', <RunsBadge key="runs" runs={version.runs} />],
          ['Kind', formatKind(version.kind)],
          inputs.length > 0 && [
            'Inputs',
            inputs.map(({ name, type, isRequired }) => `${name} (${type}${isRequired ? '' : ', optional'})`).join(', '),
          ],
          score && ['Score', `${formatPoints(score.min)} to ${formatPoints(score.max)} points`],
          ['File format', manifest.format],
          ['Source contract', manifest.contract_key && <ContractLink key="contract" of={manifest.contract_key} />],
          lists.length > 0 && [
            'Looks up',
            <Stack key="lists" gap={2}>
              {lists.map(({ list_key, fields }) => (
                <span key={list_key}>
                  <PageLink to={`/datasets/${list_key}`} inherit>
                    {list_key}
                  </PageLink>
                  {fields.length > 0 && <span className="quiet"> {fields.join(', ')}</span>}
                </span>
              ))}
            </Stack>,
          ],
          hosts.length > 0 && ['Hosts', hosts.join(', ')],
          manifest.fuel !== null && ['Fuel limit', manifest.fuel.toLocaleString('en')],
          manifest.memory_mib !== null && ['Memory limit', `${manifest.memory_mib} MiB`],
          validation && [
            'Validated',
            <span key="validated">
              <DateTime at={validation.validated_at} />
              {validation.fuel_max !== null && `, fuel used by the examples: at most ${validation.fuel_max}`}
            </span>,
          ],
          [
            'Files',
            version.files.map(({ path, size_bytes }) => `${path} (${formatSize(size_bytes)})`).join(', ') || 'none',
          ],
          [
            'Uploaded',
            <span key="uploaded">
              <DateTime at={version.created_at} />, by <Principal of={version.created_by} />
            </span>,
          ],
          ['Note', version.note],
          version.content_hash !== null && [
            'Content hash',
            <CopyValue key="hash" value={version.content_hash} name="the content hash" />,
          ],
          validation && [
            'Sandbox',
            <CopyValue key="sandbox" value={validation.sandbox_hash} name="the hash of the sandbox" />,
          ],
        ]}
      />
    </Section>
  )
}

const ContractLink = ({ of }: { readonly of: string }) => (
  <PageLink to={`/source-contracts/${of}`} inherit>
    {of}
  </PageLink>
)

function Manifest({ version }: { readonly version: PluginVersion }) {
  const { manifest, reasons, examples } = version
  return (
    <Section title="Manifest">
      {manifest === null ? (
        <Text size="sm">The manifest cannot be read, so there is nothing to show.</Text>
      ) : (
        <Stack gap="xs">
          <LocatedJson
            name="Manifest as JSON"
            value={sortManifest(manifest)}
            marks={reasons.flatMap(({ code, message, pointer }) =>
              pointer === undefined || pointer.startsWith('/examples')
                ? []
                : [{ pointer, text: `${describeReason(code)}. ${message}` }],
            )}
          />
          <Text size="xs" c="dimmed">
            {formatCount(examples.length, 'example')} under “Golden examples”.
          </Text>
        </Stack>
      )}
    </Section>
  )
}
