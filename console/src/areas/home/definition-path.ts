/** Where the page of a list or definition is. */
const folders: Readonly<Record<string, string>> = {
  list: '/datasets',
  matrix: '/matrices',
  rule: '/rules',
  contract: '/source-contracts',
  provider: '/providers',
  plugin: '/plugins',
  playbook: '/playbooks',
}

/** The server may know kinds that this console has no page for; their links lead to "not found". */
export const getDefinitionPath = ({ family, key }: { readonly family: string; readonly key: string }) =>
  `${folders[family] ?? `/${family}s`}/${key}`
