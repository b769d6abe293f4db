/** Names of members in one spelling, so that rules about names do not depend on how a provider writes them. */

export const toSnakeCase = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase()
