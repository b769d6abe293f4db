/** Describes in words which version an activation put in force. */
import type { PolicyChangeRow } from './queries.ts'

type Change = Pick<PolicyChangeRow, 'title' | 'kind' | 'version' | 'previous_version'>

export function describePolicyChange({ title, kind, version, previous_version }: Change): string {
  const versions =
    previous_version === null || previous_version === version
      ? `version ${version}`
      : `version ${previous_version} → ${version}`
  switch (kind) {
    case 'rollback':
      return `${title}: rolled back, ${versions}`
    case 'pin':
      return `${title}: pinned to version ${version}`
    case 'unpin':
      return `${title}: pin ended`
    case 'overlay':
      return `${title}: own additions, ${versions}`
    case 'overlay-removed':
      return `${title}: own additions removed`
    default:
      return `${title}: ${versions} put in force`
  }
}
