/** What a policy editor works on: drafts, lists that are due, and imports that gave no version. */

import { Badge, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { StateBadge } from '#console/ui/badges.tsx'
import { ElapsedTime, RelativeTime } from '#console/ui/date-time.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { TargetName } from '#console/ui/target-name.tsx'
import { getDefinitionPath } from './definition-path.ts'
import { RowList } from './row-list.tsx'

const familyWords: Readonly<Record<string, string>> = {
  matrix: 'Matrix',
  rule: 'Rule',
  contract: 'Source contract',
  provider: 'Provider',
  plugin: 'Plugin',
  playbook: 'Playbook',
}

type Editor = Schemas['PolicyEditorOverview']

export function EditorSections({ of }: { readonly of: Editor }) {
  return (
    <>
      <Drafts of={of.drafts} />
      {of.imports_failed.length > 0 && <FailedImports of={of.imports_failed} />}
    </>
  )
}

function Drafts({ of }: { readonly of: Editor['drafts'] }) {
  return (
    <Section title="Your drafts">
      <RowList
        label="Your drafts"
        rows={of.map((draft) => ({
          key: `${draft.family} ${draft.key}`,
          link: (
            <PageLink to={`${getDefinitionPath(draft)}/draft`} size="sm" fw={500}>
              {draft.title}
            </PageLink>
          ),
          detail: (
            <>
              {familyWords[draft.family] ?? draft.family}
              {draft.based_on === null ? ', not published yet' : `, based on version ${draft.based_on}`}, changed{' '}
              <RelativeTime at={draft.updated_at} />
            </>
          ),
        }))}
        empty={
          <>
            <Text size="sm" mb="xs">
              You have no draft of a matrix, rule, source contract or provider. Changes begin as a draft and are
              published as a version.
            </Text>
            <ButtonLink to="/matrices" size="xs" variant="default">
              Open the matrices
            </ButtonLink>
          </>
        }
      />
    </Section>
  )
}

/** Also for those who answer for the policy: compliance officers and auditors. */
export function DueDefinitions({ of }: { readonly of: readonly Schemas['DueDefinition'][] }) {
  return (
    <Section
      title="Due for review or out of date"
      actions={
        <PageLink to="/datasets" size="sm">
          All lists
        </PageLink>
      }
    >
      <RowList
        label="Due for review or out of date"
        rows={of.map((one) => ({
          key: `${one.origin} ${one.family} ${one.key}`,
          link: (
            <SearchLink to={getDefinitionPath(one)} search={{ origin: one.origin }} size="sm" fw={500}>
              {one.title}
            </SearchLink>
          ),
          detail: (
            <>
              Version {one.version}
              {one.origin === 'shared' && `, shared ${one.family === 'contract' ? 'source contract' : one.family}`}
              {one.stale_since !== null && (
                <>
                  , out of date for <ElapsedTime since={one.stale_since} />
                </>
              )}
              {one.review_due_at !== null && (
                <>
                  , review due <RelativeTime at={one.review_due_at} />
                </>
              )}
            </>
          ),
          mark: (
            <Badge variant="light" tt="none" miw="max-content" color={one.stale_since === null ? 'yellow' : 'orange'}>
              {one.stale_since === null ? 'review due' : 'out of date'}
            </Badge>
          ),
        }))}
        empty="Every list, matrix, rule, source contract and provider in force is within its limits. A list says how often it must be reviewed and after how many days it is out of date."
      />
    </Section>
  )
}

function FailedImports({ of }: { readonly of: Editor['imports_failed'] }) {
  return (
    <Section
      title="Imports without a version"
      actions={
        <PageLink to="/imports" size="sm">
          All imports
        </PageLink>
      }
    >
      <RowList
        label="Imports without a version"
        rows={of.map((one) => ({
          key: one.import_id,
          link: (
            <PageLink to={`/imports/${one.import_id}`} size="sm" fw={500}>
              {one.file_name ?? <TargetName kind="list" target_key={one.list_key} />}
            </PageLink>
          ),
          detail: (
            <>
              <TargetName kind="list" target_key={one.list_key} />, <RelativeTime at={one.created_at} />
            </>
          ),
          mark: <StateBadge state={one.state} />,
        }))}
        empty="Every import of the last 14 days gave a version."
      />
    </Section>
  )
}
