/**
 * The demo: flights that publish where they are, and boards that show them, on one bus or several.
 */
package io.eventbus.cli.demo;
