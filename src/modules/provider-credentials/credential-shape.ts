/** What is wrong with the values of a credential, by the members that the manifest of its provider declares. */
import type { ProblemError } from '#kernel/problem.ts'
import type { CredentialMemberShape } from '#provider/credential-members.ts'

/** A key or certificate is a text of several lines; any other value is sent in one. */
const isPem = (value: string): boolean => value.includes('-----BEGIN ')

/** Every fault, by the name of the member and never with its value. */
export function findMemberFaults(
  shape: readonly CredentialMemberShape[],
  members: Readonly<Record<string, string>>,
): ProblemError[] {
  const fault = (name: string, detail: string, keyword: string): ProblemError => ({
    in: 'body',
    pointer: `#/members/${name}`,
    detail,
    keyword,
  })
  const declared = new Map(shape.map((member) => [member.name, member]))
  const absent = shape.filter(({ name }) => !Object.hasOwn(members, name))
  const given = Object.entries(members).flatMap(([name, value]): ProblemError[] => {
    const member = declared.get(name)
    if (!member) return [fault(name, 'is not a member that the provider declares', 'additionalProperties')]
    if (value.length > member.max_length)
      return [fault(name, `must have at most ${member.max_length} characters`, 'maxLength')]
    if (!isPem(value) && /^\s|\s$|[\p{Cc}]/u.test(value))
      return [fault(name, 'must not begin or end with white space, or contain line breaks', 'pattern')]
    return []
  })
  return [...absent.map(({ name }) => fault(name, 'is required', 'required')), ...given]
}
