/** Demo: flights that publish their positions, and boards that show them, on one bus or several. */
package io.eventbus.cli.demo;
