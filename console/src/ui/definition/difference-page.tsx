/** The difference between two versions of a definition, by part and field. */
import '../registry.css'
import { Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { Changes } from '../decision/changes.tsx'
import {
  type DefinitionKind,
  definitionQuery,
  differenceQuery,
  type VersionedDefinition,
  type VersionedKind,
} from '../decision/definition-kind.ts'
import { DifferenceCounts, signs } from '../difference-counts.tsx'
import { EmptyState } from '../empty-state.tsx'
import { EntryValue } from '../entry-value.tsx'
import { useFilter } from '../filters.tsx'
import { LineDiff } from '../line-diff-view.tsx'
import { PageLink } from '../link.tsx'
import { formatVersion, isSameVersion, type OwnedVersion, useOrigin } from '../origin.ts'
import { Page } from '../page.tsx'
import { readPartChanges } from '../plugin/part-changes.ts'
import type { ValueChange } from '../plugin/value-changes.ts'
import { SearchLink } from '../search-link.tsx'
import { VersionRange } from '../version-range.tsx'
import { ContractEffect } from './contract-effect.tsx'
import { formatPart } from './format-part.ts'

interface OwnedRange {
  readonly from: OwnedVersion
  readonly to: OwnedVersion
}

/** The two versions from the page address; by default the newest and its predecessor. */
function useRange({ head_version, origin }: ComparedDefinition): OwnedRange {
  const search = useSearch({ strict: false }) as { from?: unknown; to?: unknown }
  const number = (value: unknown, otherwise: number) => (Number.isInteger(value) ? Number(value) : otherwise)
  const to = number(search.to, Math.max(1, head_version))
  const from = number(search.from, Math.max(1, to - 1))
  return {
    from: { version: from, origin: useFilter('from_origin', ['own', 'shared']) ?? origin },
    to: { version: to, origin },
  }
}

export function DefinitionDifferencePage({ kind }: { readonly kind: DefinitionKind }) {
  const { key: definition_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: of } = useSuspenseQuery(definitionQuery(kind, definition_key, useOrigin()))
  return <DifferenceFrame kind={kind} definition_key={definition_key} of={of} />
}

type ComparedDefinition = Pick<VersionedDefinition, 'title' | 'origin' | 'versions'> & { readonly head_version: number }

interface DifferenceFrameProps {
  readonly kind: VersionedKind
  readonly definition_key: string
  readonly of: ComparedDefinition
}

export function DifferenceFrame({ kind, definition_key, of }: DifferenceFrameProps) {
  const { from, to } = useRange(of)
  return (
    <Page
      title="Differences"
      about={`${of.title}, from ${formatVersion(from, to)} to ${formatVersion(to, from)}`}
      trail={
        <>
          <PageLink to={kind.basePath} inherit>
            {kind.title}
          </PageLink>{' '}
          /{' '}
          <SearchLink to={`${kind.basePath}/${definition_key}`} search={{ origin: of.origin }} inherit>
            {of.title}
          </SearchLink>
        </>
      }
      actions={from.origin === to.origin && <VersionRange versions={of.versions} from={from.version} to={to.version} />}
    >
      {isSameVersion(from, to) ? (
        <EmptyState
          title="The same version was chosen twice"
          about="Choose two different versions to see what changed between them."
        />
      ) : (
        <>
          <h2 className="sr-only">Changes</h2>
          <DefinitionDifference kind={kind} definition_key={definition_key} from={from} to={to} />
        </>
      )}
    </Page>
  )
}

interface DefinitionDifferenceProps extends OwnedRange {
  readonly kind: VersionedKind
  readonly definition_key: string
}

interface PartChangeProps {
  readonly kind: VersionedKind
  readonly part: string
  readonly changes: readonly ValueChange[]
}

/** The source of a plugin is compared line by line. */
function PartChange({ kind, part, changes }: PartChangeProps) {
  const { texts, values } =
    kind.family === 'plugin'
      ? readPartChanges(changes)
      : { texts: [], values: changes.filter(({ pointer }) => pointer !== '/position') }
  return (
    <>
      {texts.map((text, place) => (
        <LineDiff key={place} name={`Changed lines of ${part}`} {...text} />
      ))}
      {values.length > 0 && <Changes changes={values} label={`Changes of ${part}`} />}
    </>
  )
}

/** Members that hold the position of a part, not its content. */
const POSITION_MEMBERS = ['part', 'name', 'position', 'key', 'title']

export function DefinitionDifference({ kind, definition_key, from, to }: DefinitionDifferenceProps) {
  const { data } = useSuspenseQuery(differenceQuery(kind, definition_key, from, to))
  if (data.items.length === 0)
    return (
      <EmptyState
        title="Both versions have the same content"
        about="The later version repeats the earlier one, so no decision changes."
      />
    )
  return (
    <Stack gap="sm">
      {data.summary && <DifferenceCounts of={data.summary} />}
      {kind.family === 'contract' && <ContractEffect of={data} />}
      {data.items.map((item) => (
        <article key={item.key} className={`diff-entry diff-entry-${item.op}`} aria-label={`${item.op}: ${item.key}`}>
          <header>
            <h3>{formatPart(item)}</h3>
            <span className={`count count-${item.op}`}>
              <b aria-hidden="true">{signs[item.op]}</b> {item.op}
            </span>
          </header>
          {item.op === 'changed' ? (
            <PartChange kind={kind} part={formatPart(item)} changes={item.changes} />
          ) : (
            <div className="diff-body">
              <dl className="facts">
                {Object.entries(item.after ?? item.before ?? {})
                  .filter(([name]) => !POSITION_MEMBERS.includes(name))
                  .map(([name, value]) => (
                    <div key={name}>
                      <dt>{name.replaceAll('_', ' ')}</dt>
                      <dd>
                        <EntryValue value={value} />
                      </dd>
                    </div>
                  ))}
              </dl>
            </div>
          )}
        </article>
      ))}
      {data.next_cursor !== null && (
        <Text size="sm" c="dimmed">
          Only the first {data.items.length} differences are shown.
        </Text>
      )}
    </Stack>
  )
}
