/** One tool of a server: what was reviewed and pinned, what the server offers now, and the review that pins it. */
import '#console/ui/registry.css'
import './tools.css'
import { Alert, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { type LinePair, pairLines, toDefinitionLines } from '#console/ui/tool/escape-text.ts'
import { ToolStateBadge } from '#console/ui/tool/tool-badges.tsx'
import { serverToolQuery, toolServerQuery } from '#console/ui/tool/tool-queries.ts'
import { type ServerTool, toolStateColors, toolStateTexts } from '#console/ui/tool/tool-texts.ts'
import { PinTool } from './pin-tool.tsx'

export default function ServerToolPage() {
  const { server_key = '', tool_name = '' } = useParams({ strict: false }) as {
    server_key?: string
    tool_name?: string
  }
  const may = usePermission()
  const { data: server } = useSuspenseQuery(toolServerQuery(server_key))
  const { data: tool } = useSuspenseQuery(serverToolQuery(server_key, tool_name))
  const canPin = tool.state !== 'pinned' && tool.offered_hash !== null && tool.unusable.length === 0
  return (
    <Page
      title={tool.tool_name}
      mark={<ToolStateBadge state={tool.state} />}
      about={`A tool of ${server.title}. Its texts come from the server: they are data for your review, never instructions.`}
      trail={
        <>
          <PageLink to="/tools/servers" inherit>
            Tool servers
          </PageLink>{' '}
          /{' '}
          <PageLink to={`/tools/servers/${server_key}`} inherit>
            {server.title}
          </PageLink>
        </>
      }
      actions={canPin && may('pinServerTool') && <PinTool tool={tool} />}
    >
      <Stack gap="md">
        <Alert color={toolStateColors[tool.state]} role="status">
          <Text size="sm">{toolStateTexts[tool.state]}</Text>
        </Alert>
        <Unusable tool={tool} />
        <Definitions tool={tool} />
        <PinFacts tool={tool} />
      </Stack>
    </Page>
  )
}

function Unusable({ tool }: { readonly tool: ServerTool }) {
  if (tool.unusable.length === 0) return null
  return (
    <Alert color="orange" title="What the server offers cannot be pinned" role="status">
      <ul className="policy-rules">
        {tool.unusable.map(({ code, message, pointer }) => (
          <li key={`${code} ${pointer}`}>
            {message} {pointer !== undefined && <span className="mono">{pointer}</span>}
          </li>
        ))}
      </ul>
    </Alert>
  )
}

function Definitions({ tool }: { readonly tool: ServerTool }) {
  const { pinned, offered, differences } = tool
  const isCompared = pinned !== null && offered !== null && differences.length > 0
  return (
    <Section title={isCompared ? `Definition, ${formatCount(differences.length, 'difference')}` : 'Definition'}>
      <Stack gap="xs">
        {isCompared ? (
          <SideBySide pairs={pairLines(toDefinitionLines(pinned), toDefinitionLines(offered))} />
        ) : (
          <OneDefinition tool={tool} />
        )}
        <Text size="xs" c="dimmed">
          Characters that cannot be seen or that look like others are written as their number, such as{' '}
          <span className="mono">{'\\u{202e}'}</span>.
        </Text>
      </Stack>
    </Section>
  )
}

function OneDefinition({ tool }: { readonly tool: ServerTool }) {
  const lines = toDefinitionLines(tool.offered ?? tool.pinned)
  const name = tool.offered === null ? 'Definition that was pinned' : 'Definition that the server offers'
  return (
    <section className="table-card scrolled" aria-label={name}>
      <table className="side-by-side">
        <caption className="sr-only">{name}</caption>
        <tbody>
          {lines.map((line, place) => (
            <tr key={place}>
              <td>{line}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Lines with a sign are on one side only. */
function SideBySide({ pairs }: { readonly pairs: readonly LinePair[] }) {
  return (
    <div className="table-card">
      <table className="side-by-side" aria-label="Pinned and offered definition">
        <thead>
          <tr>
            <th scope="col">Pinned: reviewed</th>
            <th scope="col">Offered now</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map(({ kind, before, after }, place) => (
            <tr key={place}>
              <td className={kind === 'changed' && before !== null ? 'before' : undefined}>
                {kind === 'changed' && before !== null && <span className="sign">−</span>}
                {before}
              </td>
              <td className={kind === 'changed' && after !== null ? 'after' : undefined}>
                {kind === 'changed' && after !== null && <span className="sign">+</span>}
                {after}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function PinFacts({ tool }: { readonly tool: ServerTool }) {
  return (
    <Section title="Pin">
      <Facts
        of={[
          [
            'Pinned',
            tool.pinned_by === null ? (
              'never'
            ) : (
              <span key="pinned">
                <RelativeTime at={tool.pinned_at} /> by <Principal of={tool.pinned_by} />
                {tool.pin_no !== null && `, pin ${tool.pin_no}`}
              </span>
            ),
          ],
          tool.quarantined_at !== null && ['In quarantine', <RelativeTime key="quarantine" at={tool.quarantined_at} />],
          tool.pinned_hash !== null && [
            'Hash of the pin',
            <CopyValue key="hash" value={tool.pinned_hash} name="the hash of the pin" />,
          ],
          tool.offered_hash !== null &&
            tool.offered_hash !== tool.pinned_hash && [
              'Hash of the offer',
              <CopyValue key="offered" value={tool.offered_hash} name="the hash of the offer" />,
            ],
          ['First offered', <RelativeTime key="first" at={tool.first_seen_at} />],
          ['Last offered', <RelativeTime key="last" at={tool.last_seen_at} />],
        ]}
      />
    </Section>
  )
}
