package io.eventbus.server.config;

/** Permission of pages to stall publishers. */
public enum BrowserBlock {
  /** Pages may do so as other clients may. */
  ALLOW,
  /** Pages may not. */
  REFUSE
}
