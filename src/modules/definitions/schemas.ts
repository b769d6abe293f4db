/** Wire shapes of versioned definitions, for the routes of every kind. */
export * from './activations/schema.ts'
export * from './datasets/schema.ts'
export * from './schema.ts'
export * from './versions/schema.ts'
